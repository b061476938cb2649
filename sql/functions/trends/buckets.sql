-- Private: upper bounds, in ms, of the buckets in which trends count waits and runs: 1, 2 and 5 of every power of ten
-- up to 14 hours; whatever is longer is in one more. Fixed, so that counts of different minutes and processes can be
-- added.
create or replace function "unstuck".trend_bounds()
returns float8[] language sql immutable
return array[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000,
             2000000, 5000000, 10000000, 20000000, 50000000]::float8[];

-- Private: the number of durations in each bucket.
create or replace function "unstuck".count_durations(p_durations float8[])
returns int[] language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array(
    select count(ms)::int
      from generate_series(1, cardinality("unstuck".trend_bounds()) + 1) bucket
      left join unnest(p_durations) ms
        on 1 + width_bucket(ms, "unstuck".trend_bounds()) = bucket
     group by bucket order by bucket)
$$;

-- Private: the sum of two arrays of counts.
create or replace function "unstuck".add_counts(p_one int[], p_other int[])
returns int[] language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array(
    select coalesce(pair.one, 0) + coalesce(pair.other, 0)
      from unnest(p_one, p_other) with ordinality pair(one, other, bucket) order by bucket)
$$;

-- Private: of two counts of the same durations the one that has more of them.
create or replace function "unstuck".larger_counts(p_one int[], p_other int[])
returns int[] language sql immutable set search_path = pg_catalog, pg_temp as $$
  select counts from (values (p_one), (p_other)) known(counts)
   order by (select sum(count) from unnest(counts) count) desc nulls last limit 1
$$;

-- Private: the upper bound of the bucket that contains this share of all durations; NULL if there are none. The last
-- bucket has no bound of its own.
create or replace function "unstuck".duration_at(p_counts int[], p_share float8)
returns float8 language sql immutable set search_path = pg_catalog, pg_temp as $$
  select ("unstuck".trend_bounds())[least(bucket, cardinality("unstuck".trend_bounds()))]
    from (select bucket, sum(count) over (order by bucket) as so_far, sum(count) over () as total
            from unnest(p_counts) with ordinality counted(count, bucket)) counted
   where total > 0 and so_far >= p_share * total
   order by bucket limit 1
$$;
