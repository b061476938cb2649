-- Stores the digest of a new token. Returns false if the name is taken, including by a revoked token.
create or replace function "unstuck".create_token(
  p_name text, p_sha256 bytea, p_scopes text[], p_owner text default null, p_expires_in_ms bigint default null,
  p_actor text default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require(p_name ~ '^[[:alnum:]_.-]{1,64}$', 'name', p_name,
                            '1 to 64 letters, digits and the characters _ . -');
  perform "unstuck".require(length(p_sha256) = 32, 'sha256', length(p_sha256)::text || ' bytes', '32 bytes');
  perform "unstuck".require(cardinality(p_scopes) between 1 and 100 and array_position(p_scopes, null) is null,
                            'scopes', p_scopes::text, '1 to 100 scopes');
  perform "unstuck".require(coalesce(length(p_owner), 1) between 1 and 200, 'owner', p_owner, '1 to 200 characters');
  perform "unstuck".require(coalesce(p_expires_in_ms, 1) between 1 and 315360000000, 'expires_in_ms',
                            p_expires_in_ms::text, 'milliseconds from 1 to ten years');
  insert into "unstuck".tokens (name, sha256, scopes, owner, created_at, created_by, expires_at)
  values (p_name, p_sha256, p_scopes, p_owner, v_now, p_actor, "unstuck".after_ms(v_now, p_expires_in_ms))
      on conflict (name) do nothing;
  if not found then
    return false;
  end if;
  perform "unstuck".record_audit_entry(null, 'token-created', p_name, p_actor, null,
                                       jsonb_build_object('scopes', p_scopes, 'owner', p_owner));
  return true;
end
$$;
