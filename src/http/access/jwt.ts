// JSON web tokens of an external login. jose verifies them; algorithms, issuer and audience are pinned.
import { createRemoteJWKSet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { type Actor, isRole, isScope, roles, type Scope } from '../../commands/actor.ts'
import type { JwtOptions } from '../app-options.ts'

const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
const SECRET_ALGORITHMS = ['HS256']

export type VerifyJwt = (token: string) => Promise<Actor | null>

/** Scopes come from `scope`, separated by spaces, or from `role`. */
export function createJwtVerifier(options: JwtOptions): VerifyJwt {
  const { issuer, audience, secret, jwksUrl, ownerClaim } = options
  const key: Uint8Array | JWTVerifyGetKey =
    secret === undefined ? createRemoteJWKSet(new URL(jwksUrl ?? '')) : new TextEncoder().encode(secret)
  const pinned = {
    issuer,
    audience,
    algorithms: [
      ...(options.algorithms ?? (secret === undefined ? PUBLIC_KEY_ALGORITHMS : SECRET_ALGORITHMS)),
    ],
    requiredClaims: ['exp', 'sub'],
  }
  return async (token) => {
    const payload = await verify(token, key, pinned)
    return payload === null ? null : toActor(payload, ownerClaim)
  }
}

async function verify(
  token: string,
  key: Uint8Array | JWTVerifyGetKey,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload | null> {
  try {
    // Two calls, for two of jose's overloads.
    const { payload } =
      typeof key === 'function' ? await jwtVerify(token, key, options) : await jwtVerify(token, key, options)
    return payload
  } catch {
    // The caller does not learn why a token was refused.
    return null
  }
}

function toActor(payload: JWTPayload, ownerClaim: string | undefined): Actor | null {
  const { sub, scope, role } = payload as { sub: string; scope?: unknown; role?: unknown }
  const granted: readonly Scope[] =
    typeof scope === 'string'
      ? scope.split(' ').filter(isScope)
      : typeof role === 'string' && isRole(role)
        ? roles[role]
        : []
  const actor = { id: `jwt:${sub.slice(0, 200)}`, scopes: granted }
  if (ownerClaim === undefined) return actor
  const owner = payload[ownerClaim]
  return typeof owner === 'string' && owner !== '' ? { ...actor, owner } : null
}
