import type { Actor } from '../commands/actor.ts'
import type { CommandTable } from '../commands/command.ts'
import type { Config } from '../config/index.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Job, JsonValue } from '../job/job.ts'
import type { RedactOptions } from '../observe/redact.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { AccessStore } from '../store/access-store.ts'

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

/** Null: not this way; the other ways are tried. */
export type Authorize = (request: Request) => Actor | null | Promise<Actor | null>

export interface AppOptions {
  tables: readonly [CommandTable, ...CommandTable[]]
  access: AccessStore
  /** Over the stored policy, for every call. */
  policy?: PolicyOverride
  /** What /v1/config shows, masked. */
  config?: Config
  /** Asked before a dead job is retried (OPS-1); always yes where absent. */
  sourceExists?: (job: Job) => Promise<boolean>
  /** For embedding: who sends this request? */
  authorize?: Authorize
  jwt?: JwtOptions
  /** Everybody who reaches this is an administrator: for a server that only this machine reaches. */
  isOpenToLoopback?: boolean
  isReadOnly?: boolean
  /** `production` and the like, for the badge of the dashboard. */
  environment?: string
  /** Of a body; 1 MiB where absent. */
  maxBodyBytes?: number
  /** Of each caller; 50 requests a second and 200 at once where absent. */
  rateLimit?: { ratePerS: number; burst: number }
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
  fetch: (request: Request) => Response | Promise<Response>
  /** Ends streams, the poller and running operations. The store stays open: it is the caller's. */
  close(): Promise<void>
}
