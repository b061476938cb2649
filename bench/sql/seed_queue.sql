insert into unstuck.jobs (id, type, queue, payload, created_at, updated_at)
select unstuck.uuid_v7(at), 'noop', $2::text, jsonb_build_object('i', i), at, at
  from (select i, now() - interval '1 hour' + i * interval '1 ms' as at from generate_series(1, $1::int) i) born
