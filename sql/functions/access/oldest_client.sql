-- Private: the migration that a worker must know in order to start. Raised only by a change that older workers would
-- not survive (OPS-7).
create or replace function "unstuck".oldest_client()
returns text language sql immutable
return '0004_operations';
