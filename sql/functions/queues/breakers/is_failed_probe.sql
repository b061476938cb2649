-- Private: did a half-open breaker let this job through, and has it met the failure that the breaker stays open for?
create or replace function "unstuck".is_failed_probe(p_attachment text, p_queue text, p_job_id text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from "unstuck".probes probe
                   join "unstuck".dependencies dependency
                     on dependency.attachment = probe.attachment and dependency.name = probe.breaker
                  where probe.attachment = p_attachment and probe.job_id = p_job_id and probe.failed_at is not null
                    and dependency.queue = p_queue);
end
$$;
