-- Private: whether policies decide which rows of a table a role sees, as row_security_active() says it of the current
-- role. Role 0 is PUBLIC.
create or replace function "unstuck".has_row_security(p_table oid, p_role oid)
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select relrowsecurity
     and not exists (select from pg_roles where oid = p_role and (rolsuper or rolbypassrls))
     and case when relforcerowsecurity or p_role = 0 then true else not pg_has_role(p_role, relowner, 'usage') end
    from pg_class where oid = p_table
$$;
