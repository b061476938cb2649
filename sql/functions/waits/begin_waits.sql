-- Private: asks that the end of these jobs notifies a process, by its number, for p_for_ms. It only saves time: whoever
-- waits polls as well. Waits of processes that died are deleted here.
create or replace function "unstuck".begin_waits(
  p_attachment text, p_job_ids text[], p_channel int, p_for_ms bigint)
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require_list(p_job_ids, 'job_ids', 'ids of jobs');
  perform "unstuck".require(p_channel is not null, 'channel', p_channel::text, 'a number');
  perform "unstuck".require(coalesce(p_for_ms between 1 and 3600000, false), 'for_ms', p_for_ms::text,
                            'milliseconds from 1 to 3600000');
  with over as materialized (
    select ctid from "unstuck".waits where ends_at < v_now limit 1000 for update skip locked
  )
  delete from "unstuck".waits using over where waits.ctid = over.ctid;
  insert into "unstuck".waits (attachment, job_id, channel, ends_at)
  select p_attachment, job_id, p_channel, v_now + p_for_ms * interval '1 ms' from unnest(p_job_ids) job_id
      on conflict (attachment, job_id, channel) do update set ends_at = excluded.ends_at;
  return cardinality(p_job_ids);
end
$$;
