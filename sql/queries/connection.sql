-- Settings and identity of a connection, hints, and the schema version.

-- name: connection_identity
-- Start time and oid identify a database of a running server. A standby has another start time than its primary.
select pg_backend_pid() as backend_pid,
       format('%s %s', extract(epoch from pg_postmaster_start_time()), oid) as database
  from pg_database
 where datname = current_database();

-- name: limit_transaction
-- Transaction-local: a pooler may hand the session to another client afterwards (C15).
select set_config('lock_timeout', $1::text, true),
       set_config('statement_timeout', $2::text, true),
       set_config('idle_in_transaction_session_timeout', $2::text, true);

-- name: listen_to_hints
select "unstuck".listen_to_hints(/*attachment*/'native') as channel, pg_backend_pid() as backend_pid;

-- name: test_hints
select true as is_sent from pg_notify("unstuck".hint_channel(/*attachment*/'native'), $1::text);

-- name: list_migrations
select name from "unstuck".migrations order by name;

-- name: oldest_client
select "unstuck".oldest_client() as oldest;

-- name: missing_columns
-- Those of the given columns that the job table does not have.
select asked.name
  from pg_catalog.unnest($1::text[]) asked(name),
       to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs')) relation
 where relation is not null
   and not exists (select from pg_attribute where attrelid = relation and attname = asked.name and not attisdropped);
