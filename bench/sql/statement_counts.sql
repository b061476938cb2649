-- Work of a database since its statistics were reset. Buffers of a call include those of the statements in its functions.
-- Counts of unfinished jobs are the bench's own.
select coalesce(sum(calls) filter (where toplevel), 0)::float8 as calls,
       coalesce(sum(calls) filter (where not toplevel), 0)::float8 as inner_statements,
       coalesce(sum(shared_blks_hit + shared_blks_read) filter (where toplevel), 0)::float8 as buffers,
       coalesce(sum(shared_blks_dirtied) filter (where toplevel), 0)::float8 as dirtied,
       (pg_current_wal_insert_lsn() - $2::pg_lsn)::float8 as wal_bytes
  from pg_stat_statements
 where dbid = (select oid from pg_database where datname = $1) and query not like 'select count(*)::int as count%'
