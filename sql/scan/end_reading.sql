-- A transaction without an id has changed no row; a read-only one could not.
select current_setting('transaction_read_only') = 'on' as is_read_only,
       txid_current_if_assigned() is null as is_unwritten
