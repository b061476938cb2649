-- $2 jobs, numbered from $1, created within the last hours. Ids are made by hand: uuid_v7 takes 20 times as long.
insert into unstuck.jobs (id, type, payload, created_at, updated_at)
select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || substr(md5(i::text), 1, 12))::uuid,
       'noop', jsonb_build_object('i', i), at, at
  from (select i, now() - interval '1 hour' + i * interval '1 ms' as at
          from generate_series($1::int + 1, $1 + $2::int) i) born
