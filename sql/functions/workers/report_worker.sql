-- Records the report of a worker: at its start, at every interval and at its end. Returns whether somebody asked it to
-- drain. The first report of a process (is_start) replaces the data of an earlier process with the same id.
create or replace function "unstuck".report_worker(p_attachment text, p_report jsonb)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_is_start boolean := p_report @> '{"is_start": true}';
  v_is_drain_asked boolean;
  v_report record;
begin
  perform "unstuck".require_worker_report(p_report);
  select * into v_report from jsonb_to_record(p_report) report(
    worker_id text, host text, pid int, version text, types text[], concurrency int, running int, loop_lag_ms float8,
    report_ms bigint, hinted_queues text[], phase text, exit_code int, app_version text);
  insert into "unstuck".workers as known
    (attachment, worker_id, host, pid, version, types, concurrency, running, loop_lag_ms, report_ms,
     hinted_queues, started_at, seen_at, draining_at, stopped_at, exit_code, app_version, report_times)
  values (p_attachment, v_report.worker_id, v_report.host, v_report.pid, v_report.version, v_report.types,
          v_report.concurrency, v_report.running, v_report.loop_lag_ms, v_report.report_ms, v_report.hinted_queues,
          v_now, v_now, case when v_report.phase <> 'running' then v_now end,
          case when v_report.phase = 'stopped' then v_now end, v_report.exit_code, v_report.app_version, array[v_now])
  on conflict (attachment, worker_id) do update
     set host = excluded.host, pid = excluded.pid, version = excluded.version, types = excluded.types,
         concurrency = excluded.concurrency, running = excluded.running, loop_lag_ms = excluded.loop_lag_ms,
         report_ms = excluded.report_ms, hinted_queues = excluded.hinted_queues, seen_at = v_now,
         stopped_at = excluded.stopped_at, exit_code = excluded.exit_code, app_version = excluded.app_version,
         report_times =
           case when v_is_start then excluded.report_times
                when v_now - known.report_times[cardinality(known.report_times)] < interval '5 s'
                  then known.report_times
                else array_append(known.report_times[greatest(1, cardinality(known.report_times) - 58):], v_now) end,
         started_at = case when v_is_start then v_now else known.started_at end,
         draining_at = case when v_is_start or excluded.draining_at is null then excluded.draining_at
                            else coalesce(known.draining_at, v_now) end,
         drain_requested_at = case when not v_is_start then known.drain_requested_at end,
         drain_requested_by = case when not v_is_start then known.drain_requested_by end,
         drain_reason = case when not v_is_start then known.drain_reason end
  returning known.drain_requested_at is not null into v_is_drain_asked;
  return v_is_drain_asked;
end
$$;

-- Private: checks the argument of report_worker.
create or replace function "unstuck".require_worker_report(p_report jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_key text;
begin
  perform "unstuck".require(jsonb_typeof(p_report) = 'object', 'report', p_report::text, 'an object');
  perform "unstuck".require(
    jsonb_typeof(p_report -> 'worker_id') = 'string' and length(p_report ->> 'worker_id') between 1 and 1000,
    'worker_id', p_report ->> 'worker_id', '1 to 1000 characters');
  perform "unstuck".require(
    case when jsonb_typeof(p_report -> 'types') = 'array'
         then not jsonb_path_exists(p_report -> 'types', 'strict $[*] ? (@.type() != "string")') end,
    'types', p_report ->> 'types', 'an array of types');
  perform "unstuck".require(
    case when jsonb_typeof(p_report -> 'hinted_queues') = 'array'
         then not jsonb_path_exists(p_report -> 'hinted_queues', 'strict $[*] ? (@.type() != "string")')
         else p_report ->> 'hinted_queues' is null end,
    'hinted_queues', p_report ->> 'hinted_queues', 'an array of queues');
  perform "unstuck".require(
    case when jsonb_typeof(p_report -> 'app_version') = 'string'
         then length(p_report ->> 'app_version') between 1 and 200
         else p_report ->> 'app_version' is null end,
    'app_version', p_report ->> 'app_version', '1 to 200 characters');
  foreach v_key in array array['concurrency', 'running'] loop
    perform "unstuck".require(
      case when jsonb_typeof(p_report -> v_key) = 'number'
           then (p_report ->> v_key)::numeric between 0 and 1000000 and (p_report ->> v_key)::numeric % 1 = 0 end,
      v_key, p_report ->> v_key, 'a whole number from 0 to 1000000');
  end loop;
  perform "unstuck".require(
    case when jsonb_typeof(p_report -> 'report_ms') = 'number'
         then (p_report ->> 'report_ms')::numeric between 1 and 31536000000
              and (p_report ->> 'report_ms')::numeric % 1 = 0 end,
    'report_ms', p_report ->> 'report_ms', 'milliseconds from 1 to one year');
  return "unstuck".require(coalesce(p_report ->> 'phase', '') in ('running', 'draining', 'stopped'),
                           'phase', p_report ->> 'phase', 'running, draining or stopped');
end
$$;
