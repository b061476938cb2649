-- Private: refuses a state that the times of a table without a status cannot say (OPS-13): a completed or dead row
-- would look like a waiting one. Called where the time would be written.
create or replace function "unstuck".refuse_state(p_attachment text, p_state text)
returns timestamptz language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception using
    errcode = 'UN006',
    message = format('%s has no status and no time for %s, so unstuck %s. The plan prints the column that is missing: '
                     'unstuck attach --plan', p_attachment,
                     case p_state when 'running' then 'success' else 'dead jobs' end,
                     case p_state when 'running' then 'claims none of its jobs' else 'ends no waiting job' end);
end
$$;
