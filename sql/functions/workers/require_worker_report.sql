-- Private: checks.
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
