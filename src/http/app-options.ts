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
  /** Excludes `secret`. */
  jwksUrl?: string
  secret?: string
  /** Default: RS256, ES256 and EdDSA with `jwksUrl`, HS256 with `secret`. */
  algorithms?: readonly string[]
  /** The claim with the owner. If set, a token without it is refused. */
  ownerClaim?: string
}

export interface TrustedProxyOptions {
  /** The header with the user, such as `x-forwarded-user`. The proxy must drop one sent by a client. */
  header: string
  /** The proxy's addresses: `127.0.0.1`, `10.0.0.0/8`, `::1`. Others are not trusted. */
  from: readonly string[]
  /** Roles by user, `*` for all others. Default: everyone is a viewer. */
  roles?: Readonly<Record<string, Role>>
}

export interface StreamLimit {
  perCaller: number
  total: number
}

/** Null: the other ways to authenticate are tried. */
export type Authorize = (request: Request) => Actor | null | Promise<Actor | null>

export interface AppOptions {
  tables: readonly [CommandTable, ...CommandTable[]]
  access: AccessStore
  /** Read-only connections for reads. Default: `tables` and `access`. */
  reading?: Pick<AppOptions, 'tables' | 'access'>
  /** Read-only connections for the live stream, if `reading` is a standby. Default: `reading`. */
  live?: Pick<AppOptions, 'tables' | 'access'>
  /** Overrides the stored policy in every call. */
  policy?: PolicyOverride
  /** Shown, masked, by /v1/config. */
  config?: Config
  /** Checked before a dead job is retried (OPS-1). Default: always true. */
  sourceExists?: (job: Job) => Promise<boolean>
  /** The application's own authentication. */
  authorize?: Authorize
  jwt?: JwtOptions
  trustedProxy?: TrustedProxyOptions
  /** Everyone is an administrator: for a local server. A function is asked at every request without credentials. */
  isOpenToLoopback?: boolean | (() => Promise<boolean>)
  isReadOnly?: boolean
  /** Badge of the dashboard, such as `production`. */
  environment?: string
  /** Default: 1 MiB. */
  maxBodyBytes?: number
  /** Per caller. Default: 50 requests per second, bursts of 200. */
  rateLimit?: { ratePerS: number; burst: number }
  /** Invalid tokens per address. Default: 1 per second, bursts of 20. */
  failureLimit?: { ratePerS: number; burst: number }
  /** Open streams. Default: 64 per caller, 1,000 in total. */
  streamLimit?: StreamLimit
  /** Additional redaction, such as e-mail addresses. Known secrets are always redacted. */
  redact?: RedactOptions & { payload?: (payload: JsonValue, job: { type: string }) => JsonValue }
  runDoctor?: () => Promise<Finding[]>
  /** /metrics needs no token. Default: false. */
  hasPublicMetrics?: boolean
  /** The path of the mount, such as `/ops`. Default: the root. */
  basePath?: string
}

/** A fetch handler for Hono, Express, Fastify, Next, Bun, Deno. */
export interface App {
  /** `connection` is what the server passes beside the request; without it the client's address is unknown. */
  fetch: (request: Request, connection?: Connection) => Response | Promise<Response>
  /** Ends streams and the poller; another process continues operations. The caller closes the store. */
  close(): Promise<void>
}
