-- Facts about a worker for its lane in the dashboard, and for a deploy.
alter table "unstuck".workers
  -- Version of the application, as the worker reports it.
  add column app_version text,
  -- Its last reports, oldest first: at most 60, at least 5 s apart.
  add column report_times timestamptz[] not null default '{}';
