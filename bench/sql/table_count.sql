-- Takes the snapshot that the transaction then holds.
select count(*)::int as count from pg_class
