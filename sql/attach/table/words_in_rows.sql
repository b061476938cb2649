-- Values of the status column $1 in the first 10,000 rows and in the sample of ANALYZE.
select word from (
  select word from (select job."status"::text as word from "unstuck"."jobs" job limit 10000) first_rows
  union
  select pg_catalog.unnest(most_common_vals::text::text[]) from pg_stats
   where schemaname = /*table_schema*/'unstuck' and tablename = /*table*/'jobs' and attname = $1::text
) words
 where word is not null
 order by word
