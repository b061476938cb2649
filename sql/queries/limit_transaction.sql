-- For this transaction alone: a session may belong to somebody else after it (C15).
select set_config('lock_timeout', $1::text, true),
       set_config('statement_timeout', $2::text, true),
       set_config('idle_in_transaction_session_timeout', $2::text, true)
