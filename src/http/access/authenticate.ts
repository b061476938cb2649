// Authentication: the application's hook, a bearer token, a trusted proxy, a session cookie or, on a local server without
// tokens, anyone on this machine.
import { timingSafeEqual } from 'node:crypto'
import { type Actor, isScope, scopes } from '../../commands/actor.ts'
import { actorName } from '../../commands/actor-name.ts'
import { digestOf } from '../../commands/token-commands.ts'
import type { AccessStore } from '../../store/access-store.ts'
import type { AppOptions } from '../app-options.ts'
import { ApiProblem } from '../problem.ts'
import { createJwtVerifier, type VerifyJwt } from './jwt.ts'
import { RequestLimit } from './request-limit.ts'
import { createProxyReader } from './trusted-proxy.ts'

export const SESSION_COOKIE = 'unstuck_session'
const COOKIE = new RegExp(`^${SESSION_COOKIE}=([\\w.~+/=-]{1,4096})$`)

export interface Authenticated {
  actor: Actor
  /** Sent by the browser itself: another site's page could trigger it. */
  isAmbient: boolean
}

/** `peer` is the client's address, null if unknown. */
export type Authenticate = (request: Request, peer: string | null) => Promise<Authenticated>

const FAILURE_LIMIT = { ratePerS: 1, burst: 20 }

/** Invalid tokens are rate limited by address; a valid one always passes. */
export function createLimitedAuthenticate(options: AppOptions): Authenticate {
  const authenticate = createAuthenticate(options)
  const limit = new RequestLimit(options.failureLimit ?? FAILURE_LIMIT, 'invalid tokens')
  return async (request, peer) => {
    try {
      return await authenticate(request, peer)
    } catch (error) {
      const isWrong = request.headers.has('authorization') || readCookie(request) !== null
      if (isWrong && error instanceof ApiProblem && error.code === 'UNAUTHENTICATED')
        limit.take(peer ?? 'unknown')
      throw error
    }
  }
}

function createAuthenticate(options: AppOptions): Authenticate {
  const { authorize, access, isOpenToLoopback = false } = options
  const isOpen = async () => (typeof isOpenToLoopback === 'function' ? isOpenToLoopback() : isOpenToLoopback)
  const verifyJwt = options.jwt === undefined ? undefined : createJwtVerifier(options.jwt)
  const readProxyUser =
    options.trustedProxy === undefined ? undefined : createProxyReader(options.trustedProxy)
  return async (request, peer) => {
    const own = (await authorize?.(request)) ?? null
    // The hook may read a cookie, so its result counts as ambient.
    if (own !== null) return { actor: own, isAmbient: !request.headers.has('authorization') }
    const bearer = readBearer(request)
    if (bearer !== null) return { actor: await requireToken(bearer, access, verifyJwt), isAmbient: false }
    const user = readProxyUser?.(request, peer) ?? null
    if (user !== null) return { actor: user, isAmbient: true }
    const session = readCookie(request)
    if (session !== null) return { actor: await requireToken(session, access, verifyJwt), isAmbient: true }
    if (await isOpen()) return { actor: { id: actorName(), scopes }, isAmbient: true }
    const header = options.trustedProxy?.header
    if (header !== undefined && peer === null && request.headers.has(header))
      throw unauthenticated(`${header} is not trusted: the address of the client is unknown`)
    throw unauthenticated('a token is required: Authorization: Bearer …')
  }
}

async function requireToken(
  secret: string,
  access: AccessStore,
  verifyJwt: VerifyJwt | undefined,
): Promise<Actor> {
  const isJwt = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(secret)
  const actor = isJwt ? await verifyJwt?.(secret) : await findActor(secret, access)
  if (actor === null || actor === undefined) throw unauthenticated('the token is unknown, expired or revoked')
  return actor
}

async function findActor(secret: string, access: AccessStore): Promise<Actor | null> {
  const digest = digestOf(secret)
  const found = await access.findToken(digest)
  if (found === null || found === 'revoked') return null
  if (!timingSafeEqual(Buffer.from(found.sha256, 'hex'), Buffer.from(digest, 'hex'))) return null
  return {
    id: `token:${found.name}`,
    scopes: found.scopes.filter(isScope),
    ...(found.owner === null ? {} : { owner: found.owner }),
  }
}

function readBearer(request: Request): string | null {
  const header = request.headers.get('authorization')
  if (header === null) return null
  const [, secret] = /^bearer +([\w.~+/=-]{1,4096})$/i.exec(header) ?? []
  if (secret === undefined) throw unauthenticated('the Authorization header must be Bearer and a token')
  return secret
}

function readCookie(request: Request): string | null {
  const cookies = request.headers.get('cookie')?.split(';') ?? []
  for (const cookie of cookies) {
    const [, value] = COOKIE.exec(cookie.trim()) ?? []
    if (value !== undefined) return value
  }
  return null
}

function unauthenticated(detail: string): ApiProblem {
  return new ApiProblem('UNAUTHENTICATED', detail, {}, { 'www-authenticate': 'Bearer realm="unstuck"' })
}
