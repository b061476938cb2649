-- Every insert into a leaf of a B-tree writes a record of its own, or one of its split.
select coalesce(sum(count), 0)::float8 as count
  from pg_get_wal_stats($1::pg_lsn, pg_current_wal_flush_lsn(), true)
 where "resource_manager/record_type" in ('Btree/INSERT_LEAF', 'Btree/INSERT_POST', 'Btree/SPLIT_L', 'Btree/SPLIT_R')
