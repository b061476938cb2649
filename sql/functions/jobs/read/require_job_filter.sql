-- Private: checks the filter of list_jobs.
create or replace function "unstuck".require_job_filter(p_filter jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_key text;
  v_value jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_filter) = 'object', 'filter', p_filter::text, 'an object');
  for v_key, v_value in select * from jsonb_each(p_filter) loop
    if v_key in ('type', 'queue', 'owner', 'worker_id', 'stage', 'error_code', 'cause_id') then
      perform "unstuck".require(jsonb_typeof(v_value) = 'string', v_key, v_value::text, 'text');
    elsif v_key in ('older_than_ms', 'younger_than_ms') then
      perform "unstuck".require(
        case when jsonb_typeof(v_value) = 'number' then v_value::text::numeric between 0 and 3153600000000 end,
        v_key, v_value::text, 'milliseconds from 0 to a hundred years');
    elsif v_key = 'is_overdue' then
      perform "unstuck".require(jsonb_typeof(v_value) = 'boolean', v_key, v_value::text, 'true or false');
    elsif v_key = 'status' then
      perform "unstuck".require(v_value #>> '{}' in ('waiting', 'running', 'succeeded', 'dead', 'cancelled'),
                                v_key, v_value::text, 'waiting, running, succeeded, dead or cancelled');
    else
      perform "unstuck".require(false, 'filter', v_key, 'status, type, queue, owner, worker_id, stage, error_code, '
                                'cause_id, is_overdue, older_than_ms and younger_than_ms');
    end if;
  end loop;
  return true;
end
$$;
