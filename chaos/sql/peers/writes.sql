-- Every write to a job that the database accepted, with the session that made it: the same for all contenders. In the
-- transaction of the write, so that it is there exactly if the write is.
create schema if not exists chaos;
create table chaos.writes (
  id    bigint generated always as identity primary key,
  job   text not null,
  -- claimed, finished, returned or dead
  kind  text not null,
  who   text not null default current_setting('application_name'),
  -- of the budget that ends a job
  spent int not null,
  at    timestamptz not null default clock_timestamp()
);
