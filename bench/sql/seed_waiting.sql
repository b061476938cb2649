insert into unstuck.jobs (id, type, payload, created_at, updated_at)
select unstuck.uuid_v7(at), 'noop', jsonb_build_object('i', i), at, at
  from (select i, now() - interval '1 hour' + i * interval '1 ms' as at from generate_series(1, $1::int) i) born
