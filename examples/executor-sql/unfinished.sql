select count(*) from public.executor_jobs where status in ('queued', 'running', 'processing');
