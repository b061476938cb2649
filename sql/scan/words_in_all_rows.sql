-- Every word of a status column. Reads the whole table, within the limit of a statement.
select distinct job."scanned_status"::text as word from "scanned" job
 where job."scanned_status" is not null
 order by word
 limit 100
