-- Every word of a status column, from one to the next by its index: as many rows are read as there are words.
with recursive words as (
  (select job."scanned_status" as word from "scanned" job
    where job."scanned_status" is not null order by job."scanned_status" limit 1)
  union all
  select (select job."scanned_status" from "scanned" job
           where job."scanned_status" > words.word order by job."scanned_status" limit 1)
    from words where words.word is not null
)
select word::text as word from words where word is not null limit 100
