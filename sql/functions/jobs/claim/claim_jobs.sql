-- Claims up to p_limit due jobs by priority, then due time, then id.
create or replace function "unstuck"."claim_jobs"(
  p_worker_id text, p_queues text[], p_limit int,
  p_types text[] default null, p_lease_ms bigint default null, p_policy jsonb default null, p_actor text default null,
  p_cursors jsonb default null)
returns setof "unstuck".claimed_job language plpgsql as $$
begin
  perform "unstuck".require_list(p_queues, 'queues', 'names of queues');
  perform "unstuck".require_claim_cursors(p_cursors);
  return query select * from "unstuck"."claim_rows"(
    p_worker_id, array(select distinct pg_catalog.unnest(p_queues)), p_limit, p_types, p_lease_ms, p_policy, p_actor,
    p_cursors, null);
end
$$;

-- Private: claim_batches with a row for each job.
create or replace function "unstuck"."claim_rows"(
  p_worker_id text, p_queues text[], p_limit int, p_types text[], p_lease_ms bigint, p_policy jsonb, p_actor text,
  p_cursors jsonb, p_id /*id*/uuid)
returns setof "unstuck".claimed_job language plpgsql as $$
begin
  return query
  select job.id, batch.lease_id, coalesce(other.fence, list.fence), type.name, queue.name, job.payload::jsonb,
         batch.priority, coalesce(other.stage, batch.default_stage, type.name), other.owner,
         coalesce(other.attempt, list.attempt), coalesce(other.failures, 0), coalesce(other.crashes, 0),
         coalesce(other.timeouts, 0), coalesce(other.max_attempts, batch.max_attempts), coalesce(other.generation, 1),
         born.at, coalesce(other.started_at, batch.granted_at), other.expected_duration_ms,
         least("unstuck".listed(list.lease_ms, job.lease_ms)::float8, deadline.ms), deadline.ms, other.traceparent,
         other.reaped_at is not null,
         "unstuck".ms_between(coalesce(other.run_at, born.at), batch.granted_at)
    from "unstuck"."claim_batches"(p_worker_id, p_queues, p_limit, p_types, p_lease_ms, p_policy, p_actor, p_cursors,
                                   p_id) batch,
         json_to_record(batch.jobs::json) list(
           id json, queue json, payload json, fence text, attempt int, created_at json, lease_ms json,
           deadline_ms json, other json),
         rows from (
           json_array_elements_text(list.id), "unstuck".list_values(list.queue), json_array_elements(list.payload),
           json_array_elements_text(list.created_at), "unstuck".list_values(list.lease_ms),
           "unstuck".list_values(list.deadline_ms), json_array_elements_text(list.other))
           job(id, queue, payload, created_at, lease_ms, deadline_ms, other),
         json_to_record(job.other::json) other(
           type text, fence text, attempt int, stage text, owner text, failures int, crashes int, timeouts int,
           max_attempts int, generation int, run_at timestamptz, started_at timestamptz, expected_duration_ms float8,
           traceparent text, reaped_at timestamptz),
         lateral (select to_timestamp(job.created_at::float8 / 1000::float8)) born(at),
         lateral (select "unstuck".listed(list.queue, job.queue)) queue(name),
         lateral (select coalesce(other.type, queue.name)) type(name),
         lateral (select "unstuck".listed(list.deadline_ms, job.deadline_ms)::float8) deadline(ms);
end
$$;

-- Private: the values of a list; none if it is one value, which all jobs share.
create or replace function "unstuck".list_values(p_list json)
returns setof text language sql immutable
begin atomic
  select json_array_elements_text(case when json_typeof(p_list) = 'array' then p_list end);
end;

-- Private: the value of a list for one job.
create or replace function "unstuck".listed(p_list json, p_value text)
returns text language sql immutable
return case when json_typeof(p_list) = 'array' then p_value else p_list #>> '{}' end;
