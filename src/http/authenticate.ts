// Who sends a request: the hook of the application, a bearer token, the cookie of a browser session, or, where the server
// is this machine's alone, whoever is on it.
import { timingSafeEqual } from 'node:crypto'
import { type Actor, isScope, scopes } from '../commands/actor.ts'
import { digestOf } from '../commands/token-commands.ts'
import type { AccessStore } from '../store/access-store.ts'
import type { AppOptions } from './app-options.ts'
import { createJwtVerifier, type VerifyJwt } from './jwt.ts'
import { ApiProblem } from './problem.ts'

export const SESSION_COOKIE = 'unstuck_session'
const COOKIE = new RegExp(`^${SESSION_COOKIE}=([\\w.~+/=-]{1,4096})$`)

export interface Authenticated {
  actor: Actor
  /** The browser sends it by itself, so that another site's page could make it act. */
  isAmbient: boolean
}

export type Authenticate = (request: Request) => Promise<Authenticated>

export function createAuthenticate(options: AppOptions): Authenticate {
  const { authorize, access, isOpenToLoopback = false } = options
  const verifyJwt = options.jwt === undefined ? undefined : createJwtVerifier(options.jwt)
  return async (request) => {
    const own = (await authorize?.(request)) ?? null
    // A hook may read a cookie of the application's: it counts as one.
    if (own !== null) return { actor: own, isAmbient: !request.headers.has('authorization') }
    const bearer = readBearer(request)
    if (bearer !== null) return { actor: await requireToken(bearer, access, verifyJwt), isAmbient: false }
    const session = readCookie(request)
    if (session !== null) return { actor: await requireToken(session, access, verifyJwt), isAmbient: true }
    if (isOpenToLoopback) return { actor: { id: 'loopback', scopes }, isAmbient: true }
    throw unauthenticated('a token is needed: Authorization: Bearer …')
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
  if (found === null) return null
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
  if (secret === undefined) throw unauthenticated('the header Authorization takes: Bearer and a token')
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
