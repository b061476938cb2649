-- First by priority, but not due for an hour.
insert into unstuck.jobs (id, type, payload, priority, created_at, updated_at, run_at, attempt, failures)
select unstuck.uuid_v7(at), 'noop', jsonb_build_object('i', i), -1, at, at, now() + interval '1 hour', 1, 1
  from (select i, now() - interval '2 hours' + i * interval '1 ms' as at from generate_series(1, $1::int) i) born
