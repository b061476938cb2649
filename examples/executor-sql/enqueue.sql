-- Short enough to watch; the profile has 30 minutes for run_tsa and 15 for build_artifact.
select unstuck.write_policy('executor_jobs', '{"stage_leases_ms": {"run_tsa": 4000, "build_artifact": 4000}}') is not null;

-- New jobs, unless an earlier run has left some.
insert into public.executor_jobs (type, payload)
select case when n % 2 = 1 then 'run_tsa' else 'build_artifact' end,
       jsonb_build_object('document', 'contract-' || n || '.pdf', 'seconds', :seconds)
  from generate_series(1, :jobs) n
 where not exists (select from public.executor_jobs where status in ('queued', 'running', 'processing'));
