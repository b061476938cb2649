-- Written by handlers in the transaction of their completion (I6). No key: a second effect must show up, not be refused.
create schema if not exists chaos;
create table if not exists chaos.effects (
  job_id   text not null,
  lease_id uuid not null
);
