-- Private: what row security may hide of a job table from the current role, where it hides what a sweep reads and
-- writes: { role, table, is_all, fix }, with the statement that ends it. NULL where everything is seen.
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
