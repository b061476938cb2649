-- Claims one job by id if it is waiting, due, within its budget and not locked; otherwise returns no row. A paused
-- queue or an open breaker holds it back. A job without budget is ended (C10). A job whose next crash would end it
-- goes to an idle worker only, which gets no other job meanwhile (REAP-15).
create or replace function "unstuck"."claim_job"(
  p_id /*id*/uuid, p_worker_id text, p_lease_ms bigint default null, p_policy jsonb default null)
returns setof "unstuck".claimed_job language plpgsql as $$
begin
  perform "unstuck".require(p_id is not null, 'id', p_id::text, 'the id of a job');
  return query select * from "unstuck"."claim_rows"(
    p_worker_id, "unstuck"."queue_of"(p_id), 1, null, p_lease_ms, p_policy, null, null, p_id);
end
$$;
