-- Every accepted write to a job, with the session that made it; the same for all contenders. Recorded in the transaction
-- of the write itself.
create schema if not exists chaos;
create table chaos.writes (
  id    bigint generated always as identity primary key,
  job   text not null,
  -- claimed, finished, returned or dead
  kind  text not null,
  who   text not null default current_setting('application_name'),
  -- attempts used of the job's budget
  spent int not null,
  at    timestamptz not null default clock_timestamp()
);
