-- Private: the commands for which row security may hide rows of a table from a role. is_all: no policy lets the role
-- through, so it sees no row at all. is_restricted: a restrictive policy has a condition, and no other policy lifts it.
-- Whether a condition other than true hides something depends on the rows, so it counts as if it did.
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
