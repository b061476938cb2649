-- $2 jobs, numbered from $1, that 200 workers run, with an hour of lease left.
insert into unstuck.jobs (id, type, payload, status, created_at, updated_at, started_at, heartbeat_at, worker_id,
                          lease_id, lease_expires_at, attempt, fence)
select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008002' || substr(md5(i::text), 1, 12))::uuid,
       'noop', jsonb_build_object('i', i), 'running', at, at, at, now(), 'worker-' || i % 200, gen_random_uuid(),
       now() + interval '1 hour', 1, 1
  from (select i, now() - interval '3 hours' + i * interval '1 ms' as at
          from generate_series($1::int + 1, $1 + $2::int) i) born
