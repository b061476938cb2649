-- For a table that cannot be read as a whole: the words of a status column in the first and the last $1 rows, and in
-- the sample of ANALYZE. $2, $3, $4: schema, table and column.
select word from (
  select word from (select job."scanned_status"::text as word from "scanned" job limit $1) first_rows
  union
  select word from (
    select job."scanned_status"::text as word from "scanned" job order by /*last*/(job) limit $1) last_rows
  union
  select unnest(most_common_vals::text::text[]) from pg_stats
   where schemaname = $2::text and tablename = $3::text and attname = $4::text
) words
 where word is not null
 order by word
 limit 100
