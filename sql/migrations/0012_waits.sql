-- Processes that wait for the end of jobs (docs/adr/0041). Completions look here, and notify those that wait.

-- No reference to attachments: every wait would lock the same row. A wait ends by itself.
create table "unstuck".waits (
  attachment text not null,
  job_id     text not null,
  -- A random number of the waiting process: all that a notification carries.
  channel    int not null,
  ends_at    timestamptz not null,
  primary key (attachment, job_id, channel)
);

-- Workers read it with every completion: roles that were granted the tables before get this one too.
-- grants: waits as deliveries
