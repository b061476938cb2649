-- Judges the running rows of one table: past the end of its own rule, or, without one, silent for longer than $2
-- milliseconds. A row whose worker left no trace is judged by its age. Reads at most $1 rows.
with running as materialized (
  select /*id*/(null::text) as id, /*newest*/(null::timestamptz) as newest_at, /*ends*/(null::timestamptz) as ends_at,
         /*orphaned*/(false) as is_orphan
    from "scanned" job /*+owners left join "owners" owner on owner."owner_key" = job."owner_column" */
   where /*running*/(true)
   limit $1
), aged as (
  select *, newest_at < now() - $2::float8 * interval '1 ms' as is_old from running
), judged as (
  select *, case when is_orphan then coalesce(is_old, true) when ends_at is not null then ends_at < now()
                 else is_old end as is_stuck
    from aged
)
select count(*)::int as running, count(*) filter (where is_stuck)::int as stuck,
       count(*) filter (where is_old and is_stuck is not true)::int as silent,
       count(*) filter (where is_stuck is null)::int as unjudged,
       extract(epoch from now() - min(newest_at) filter (where is_stuck)) * 1000 as oldest_stuck_ms,
       extract(epoch from now() - min(newest_at) filter (where is_old and is_stuck is not true)) * 1000
         as oldest_silent_ms,
       coalesce((array_agg(id order by newest_at nulls first) filter (where is_stuck))[1:5], '{}') as stuck_ids
  from judged
