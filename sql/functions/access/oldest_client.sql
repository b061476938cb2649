-- Private: the migration that a worker has to know: one that does not refuses to start. Raised by a change that
-- workers from before it would not survive; all others they work with (OPS-7).
create or replace function "unstuck".oldest_client()
returns text language sql immutable
return '0004_operations';
