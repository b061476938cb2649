-- Private: does row security apply to a role on this table, as row_security_active() answers for the current role?
-- Role 0 is PUBLIC.
create or replace function "unstuck".has_row_security(p_table oid, p_role oid)
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select relrowsecurity
     and not exists (select from pg_roles where oid = p_role and (rolsuper or rolbypassrls))
     and case when relforcerowsecurity or p_role = 0 then true else not pg_has_role(p_role, relowner, 'usage') end
    from pg_class where oid = p_table
$$;

-- Private: the commands for which row security may hide rows of a table from a role. is_all: no policy applies to the
-- role, so it sees no row. is_restricted: a restrictive policy has a condition. A condition other than true counts as
-- hiding rows, because that depends on the rows.
create or replace function "unstuck".hidden_commands(p_table oid, p_role oid)
returns table (command text, is_all boolean, is_restricted boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with policy as (
    select polcmd, polpermissive, pg_get_expr(polqual, polrelid) as shown,
           pg_get_expr(coalesce(polwithcheck, polqual), polrelid) as written
      from pg_policy
     where polrelid = p_table and exists (
             select from unnest(polroles) member
              where case when member = 0 or p_role = 0 then member = 0 else pg_has_role(p_role, member, 'usage') end)
  )
  select asked.command, not through.is_some, through.is_restricted
    from (values ('select', 'r'), ('insert', 'a'), ('update', 'w'), ('delete', 'd')) asked(command, letter),
         lateral (
           select coalesce(bool_or(polpermissive and rule.condition is not null), false) as is_some,
                  coalesce(bool_or(polpermissive and rule.condition = 'true'), false) as is_open,
                  coalesce(bool_or(not polpermissive and rule.condition <> 'true'), false) as is_restricted
             from policy,
                  lateral (select case when asked.command = 'insert' then written
                                       when asked.command = 'update' and shown = 'true' then written
                                       else shown end as condition) rule
            where polcmd::text in ('*', asked.letter)) through
   where "unstuck".has_row_security(p_table, p_role) and (not through.is_open or through.is_restricted)
$$;

-- Private: whether row security may hide jobs from the current role that a sweep has to read and write: { role, table,
-- is_all, fix }, with the statement that fixes it; NULL if it sees everything.
create or replace function "unstuck".hidden_jobs(p_table oid)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_is_all boolean;
  v_is_restricted boolean;
  v_policy text := current_user;
begin
  if row_security_active(p_table) is not true then
    return null;
  end if;
  select bool_or(hidden.is_all), bool_or(hidden.is_restricted) into v_is_all, v_is_restricted
    from "unstuck".hidden_commands(p_table, (select oid from pg_roles where rolname = current_user)) hidden
   where hidden.command in ('select', 'update');
  if v_is_all is null then
    return null;
  end if;
  if exists (select from pg_policy where polrelid = p_table and polname = v_policy) then
    v_policy := left(v_policy, 55) || '_unstuck';
  end if;
  return jsonb_build_object(
    'role', current_user, 'table', p_table::regclass::text, 'is_all', v_is_all,
    'fix', case when v_is_restricted then format('alter role %I bypassrls', current_user)
                else format('create policy %I on %s to %I using (true) with check (true)', v_policy,
                            p_table::regclass, current_user) end);
end
$$;

-- Private: refuses to judge jobs for a role that row security hides them from: to such a role, a table full of stuck
-- jobs looks empty.
create or replace function "unstuck".require_visible(p_table oid)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_hidden jsonb := "unstuck".hidden_jobs(p_table);
begin
  if (v_hidden ->> 'is_all')::boolean then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('row security hides every job of %s from role %s', v_hidden ->> 'table', v_hidden ->> 'role'),
      hint = format('As the owner of the table: %s', v_hidden ->> 'fix');
  end if;
  return true;
end
$$;
