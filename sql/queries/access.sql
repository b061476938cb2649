-- State of the HTTP API: tokens, idempotent requests, the audit log and the event feed.

-- name: create_token
select "unstuck".create_token($1::text, decode($2::text, 'hex'), $3::text[], $4::text, $5::bigint, $6::text)
    as is_created;

-- name: find_token
select name, encode(sha256, 'hex') as sha256, scopes, owner, revoked_at is not null as is_revoked
  from "unstuck".tokens
 where sha256 = decode($1::text, 'hex') and coalesce(expires_at > now(), true);

-- name: list_tokens
select name, scopes, owner, "unstuck".iso_utc(created_at) as created_at, created_by,
       "unstuck".iso_utc(expires_at) as expires_at, "unstuck".iso_utc(revoked_at) as revoked_at
  from "unstuck".tokens
 order by tokens.created_at, name;

-- name: revoke_token
with revoked as (
  update "unstuck".tokens set revoked_at = clock_timestamp(), revoked_by = $2::text
   where name = $1::text and revoked_at is null
  returning name
)
select name, "unstuck".record_audit_entry(null, 'token-revoked', name, $2::text, null) as is_noted from revoked;

-- name: begin_request
select outcome, status, answer from "unstuck".begin_request($1::text, $2::text, decode($3::text, 'hex'));

-- name: finish_request
update "unstuck".requests set status = $3::int, answer = $4::text where actor = $1::text and key = $2::text;

-- name: forget_request
delete from "unstuck".requests where actor = $1::text and key = $2::text and status is null;

-- name: list_audit_entries
select to_jsonb(entry) as record from "unstuck".list_audit_entries($1::text, $2::text, $3::text, $4::int) entry;

-- name: read_clock
select "unstuck".iso_utc(clock_timestamp()) as now,
       (select coalesce(max(id), 0)::text from "unstuck".events) as last_event_id;

-- name: last_event_ids
-- The last id of each node that has given some. Citus puts the number of the node into the upper 16 bits; elsewhere
-- it is 0.
with recursive node(last_id) as (
  select max(id) from "unstuck".events
  union all
  select (select max(id) from "unstuck".events where events.id < (node.last_id >> 48) << 48)
    from node where node.last_id >> 48 > 0
)
select last_id::text from node where last_id is not null;

-- name: read_horizon
select pg_snapshot_xmin(pg_current_snapshot())::text as oldest, pg_snapshot_xmax(pg_current_snapshot())::text as next;

-- name: list_new_events
select id::text, attachment, job_id, type, data, "unstuck".iso_utc(at) as at
  from "unstuck".events
 where events.id > $1::bigint
 order by events.id
 limit $2::int;

-- name: list_late_events
select id::text, attachment, job_id, type, data, "unstuck".iso_utc(at) as at
  from "unstuck".events
 where events.id = any ($1::text[]::bigint[])
 order by events.id;
