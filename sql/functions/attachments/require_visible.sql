-- Private: refuses to judge jobs for a role that row security shows none of them. To such a role a table full of stuck
-- jobs looks like one without any.
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
