select name, encode(sha256, 'hex') as sha256, scopes, owner
  from "unstuck".tokens
 where sha256 = decode($1::text, 'hex') and revoked_at is null and coalesce(expires_at > now(), true)
