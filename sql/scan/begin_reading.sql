-- For this transaction only. Times without a zone are read as UTC, as frameworks write them. Each statement runs once,
-- so JIT does not pay. Only operators of PostgreSQL itself are called (C28).
select set_config('statement_timeout', $1::text, true), set_config('lock_timeout', $1::text, true),
       set_config('idle_in_transaction_session_timeout', '60000', true), set_config('TimeZone', 'UTC', true),
       set_config('jit', 'off', true), set_config('search_path', 'pg_catalog, pg_temp', true),
       set_config('quote_all_identifiers', 'off', true), set_config('standard_conforming_strings', 'on', true)
