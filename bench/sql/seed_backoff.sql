-- $2 jobs, numbered from $1: first by priority, but not due for an hour.
insert into unstuck.jobs (id, type, payload, priority, created_at, updated_at, run_at, attempt, failures)
select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008001' || substr(md5(i::text), 1, 12))::uuid,
       'noop', jsonb_build_object('i', i), -1, at, at, now() + interval '1 hour', 1, 1
  from (select i, now() - interval '2 hours' + i * interval '1 ms' as at
          from generate_series($1::int + 1, $1 + $2::int) i) born
