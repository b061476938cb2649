with revoked as (
  update "unstuck".tokens set revoked_at = clock_timestamp(), revoked_by = $2::text
   where name = $1::text and revoked_at is null
  returning name
)
select name, "unstuck".record_audit_entry(null, 'token-revoked', name, $2::text, null) as is_noted from revoked
