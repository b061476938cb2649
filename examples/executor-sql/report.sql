\pset footer off
select payload ->> 'document' as document, type, status, attempts, result ->> 'worker' as done_by
  from public.executor_jobs order by created_at, document;
select job_id, type, action, previous_worker, attempts_after from public.executor_jobs_reclaim_history limit 20;
