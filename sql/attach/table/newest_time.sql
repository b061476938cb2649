-- How far ahead of the clock the newest time of one column is, in the first 10,000 rows. NULL if all are NULL.
select (extract(epoch from max(sampled.at) - now()) * 1000)::float8 as ahead_ms
  from (select /*sampled_time*/(job."created_at") as at from "unstuck"."jobs" job limit 10000) sampled
