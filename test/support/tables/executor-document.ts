// The SQL of document 003, as its authors type it.
export const deadWorkerTest = {
  create: `
    INSERT INTO public.executor_jobs (dedupe_key, type, status, locked_at, locked_by, attempts, payload)
    VALUES (
      'test-ttl-reclaim-' || extract(epoch from now())::text,
      'run_tsa', 'running',
      now() - interval '35 minutes',
      'test-worker-dead', 1, '{}'::jsonb
    );`,
  verify: `
    SELECT dedupe_key, type, status, attempts, last_error
    FROM public.executor_jobs
    WHERE dedupe_key LIKE 'test-ttl-reclaim-%'
      AND last_error LIKE 'RECLAIMED_TTL:%';`,
}

export const twiceTtlTest = `
    SELECT COUNT(*) FROM public.executor_jobs
    WHERE status IN ('running', 'processing')
      AND type = 'run_tsa'
      AND locked_at < now() - interval '60 minutes';  -- 2x TTL`

export const maxAttemptsTest = {
  create: `
    INSERT INTO public.executor_jobs (dedupe_key, type, status, locked_at, locked_by, attempts, payload)
    VALUES (
      'test-max-attempts-' || extract(epoch from now())::text,
      'run_tsa', 'running',
      now() - interval '35 minutes',
      'test-worker-exhausted', 10, '{}'::jsonb
    );`,
  verify: `
    SELECT dedupe_key, status, attempts, last_error
    FROM public.executor_jobs
    WHERE dedupe_key LIKE 'test-max-attempts-%';`,
}

export const reclaim = 'SELECT * FROM public.reclaim_stale_jobs();'

/** Queries of the document's "Troubleshooting" and "Monitor Production". */
export const monitoring = [
  'SELECT * FROM public.executor_jobs_stale_monitor;',
  'SELECT * FROM public.executor_jobs_stale_validation;',
  'SELECT * FROM public.executor_jobs_reclaim_history LIMIT 20;',
  `SELECT id, type, status, locked_at, heartbeat_at,
          EXTRACT(EPOCH FROM (now() - locked_at)) / 60.0 AS age_minutes
   FROM public.executor_jobs
   WHERE status IN ('running', 'processing')
     AND locked_at < now() - interval '5 minutes'
   ORDER BY locked_at;`,
  `SELECT COUNT(*) AS reclaim_count,
          type,
          status
   FROM public.executor_jobs
   WHERE last_error LIKE 'RECLAIMED_TTL:%'
     AND updated_at > now() - interval '1 hour'
   GROUP BY type, status;`,
]

/** The cron wrappers as a project has them before: they call an edge function, here a table that keeps count. */
export const cronWrappers = `
  create table public.http_calls (id bigint generated always as identity primary key, url text, queued int);
  CREATE OR REPLACE FUNCTION public.process_orchestrator_jobs() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $fn$
  BEGIN
    INSERT INTO http_calls (url, queued)
    SELECT 'orchestrator', count(*) FROM executor_jobs WHERE status = 'queued';
  END;
  $fn$;
  CREATE OR REPLACE FUNCTION public.wake_execution_engine() RETURNS bigint
  LANGUAGE sql AS $fn$ INSERT INTO public.http_calls (url) VALUES ('fase1-executor') RETURNING id $fn$;
  REVOKE ALL ON FUNCTION public.wake_execution_engine() FROM PUBLIC;
  COMMENT ON FUNCTION public.wake_execution_engine() IS 'called by cron';
`
