select name, scopes, owner, "unstuck".iso_utc(created_at) as created_at, created_by,
       "unstuck".iso_utc(expires_at) as expires_at, "unstuck".iso_utc(revoked_at) as revoked_at
  from "unstuck".tokens
 order by tokens.created_at, name
