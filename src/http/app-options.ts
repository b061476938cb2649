import type { Actor, Role } from '../commands/actor.ts'
import type { CommandTable } from '../commands/command.ts'
import type { Config } from '../config/index.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Job, JsonValue } from '../job/job.ts'
import type { RedactOptions } from '../observe/redact.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { AccessStore } from '../store/access-store.ts'
import type { Connection } from './access/peer-address.ts'

export interface JwtOptions {
  issuer: string
  audience: string
  /** Either this, or `secret`. */
  jwksUrl?: string
  secret?: string
  /** RS256, ES256 and EdDSA with `jwksUrl`, HS256 with `secret`, where absent. */
  algorithms?: readonly string[]
  /** The claim with the owner. Set: a token without it is refused. */
  ownerClaim?: string
}

export interface TrustedProxyOptions {
  /** In which it says who was logged in, such as `x-forwarded-user`. It has to take out one that a client sends. */
  header: string
  /** Its addresses: `127.0.0.1`, `10.0.0.0/8`, `::1`. The header is not believed from others. */
  from: readonly string[]
  /** Of its users, `*` for all others; everybody is a viewer where absent. */
  roles?: Readonly<Record<string, Role>>
}

export interface StreamLimit {
  perCaller: number
  total: number
}

/** Null: not this way; the other ways are tried. */
export type Authorize = (request: Request) => Actor | null | Promise<Actor | null>

export interface AppOptions {
  tables: readonly [CommandTable, ...CommandTable[]]
  access: AccessStore
  /** For what only looks: the same over connections that cannot write. `tables` and `access` where absent. */
  reading?: Pick<AppOptions, 'tables' | 'access'>
  /** Over the stored policy, for every call. */
  policy?: PolicyOverride
  /** What /v1/config shows, masked. */
  config?: Config
  /** Asked before a dead job is retried (OPS-1); always yes where absent. */
  sourceExists?: (job: Job) => Promise<boolean>
  /** For embedding: who sends this request? */
  authorize?: Authorize
  jwt?: JwtOptions
  trustedProxy?: TrustedProxyOptions
  /**
   * Everybody who reaches this is an administrator: for a server that only this machine reaches. A function is asked at every
   * request that brings no credentials.
   */
  isOpenToLoopback?: boolean | (() => Promise<boolean>)
  isReadOnly?: boolean
  /** `production` and the like, for the badge of the dashboard. */
  environment?: string
  /** Of a body; 1 MiB where absent. */
  maxBodyBytes?: number
  /** Of each caller; 50 requests a second and 200 at once where absent. */
  rateLimit?: { ratePerS: number; burst: number }
  /** Of tokens that were wrong, from one address; one a second and 20 at once where absent. */
  failureLimit?: { ratePerS: number; burst: number }
  /** Streams that are open at once; 64 of each caller and 1,000 in all where absent. */
  streamLimit?: StreamLimit
  /** E-mail addresses, and whatever else a team knows of. Secrets by their names and forms are always taken out. */
  redact?: RedactOptions & { payload?: (payload: JsonValue, job: { type: string }) => JsonValue }
  runDoctor?: () => Promise<Finding[]>
  /** Whether /metrics asks for a token; it does where absent. */
  hasPublicMetrics?: boolean
  /** Where it is mounted, such as `/ops`; the root where absent. */
  basePath?: string
}

/** A fetch handler: for Hono, Express, Fastify, Next, Bun, Deno. */
export interface App {
  /** The connection is what the server hands over beside the request; without it nobody's address is known. */
  fetch: (request: Request, connection?: Connection) => Response | Promise<Response>
  /** Ends streams and the poller; operations are left to another process. The store stays open: it is the caller's. */
  close(): Promise<void>
}
