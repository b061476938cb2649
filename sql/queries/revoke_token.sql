update "unstuck".tokens set revoked_at = clock_timestamp(), revoked_by = $2::text
 where name = $1::text and revoked_at is null
returning name
