-- $2 jobs, numbered from $1, that ended within the last ten days: of a hundred, two are dead and one is cancelled.
insert into unstuck.jobs (id, type, payload, status, created_at, updated_at, started_at, finished_at, attempt, fence,
                          failures, finished_lease_id, error_code, error_reason, error_category)
select (lpad(to_hex((extract(epoch from born.at) * 1000)::bigint), 12, '0') || '70008003'
        || substr(md5(born.i::text), 1, 12))::uuid, 'noop', jsonb_build_object('i', born.i), ended.status,
       born.at, born.at, born.at, born.at, 1, 1,
       case when ended.status = 'dead' then 3 end, gen_random_uuid(),
       case when ended.status = 'dead' then 'UPSTREAM_' || born.i % 7 end,
       case when ended.status = 'dead' then 'the service did not answer in time' end,
       case when ended.status = 'dead' then 'TRANSIENT' end
  from (select i, now() - interval '10 days' + i * interval '50 ms' as at
          from generate_series($1::int + 1, $1 + $2::int) i) born,
       lateral (select case when born.i % 100 < 2 then 'dead'
                            when born.i % 100 = 2 then 'cancelled'
                            else 'succeeded' end as status) ended
