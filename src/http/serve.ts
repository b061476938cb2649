// `unstuck serve`: the API on its own socket. Without authentication it only listens on this machine.
import type { AddressInfo } from 'node:net'
import { serve as listen, type ServerType } from '@hono/node-server'
import { type Deployment, diagnoseAll } from '../compose/index.ts'
import type { Config } from '../config/index.ts'
import { UnstuckError } from '../errors/index.ts'
import { sourceCheckOf } from '../runtime/operations/source-exists.ts'
import { isLoopbackAddress } from './access/guards.ts'
import { readRoles } from './access/trusted-proxy.ts'
import type { Api } from './api.ts'
import { buildApp } from './app.ts'
import type { App, AppOptions, JwtOptions, TrustedProxyOptions } from './app-options.ts'

export interface ServeOptions {
  config: Config
  deployment: Deployment
  host: string
  port: number
  isReadOnly: boolean
  /** Routes of this server alone, behind the same guards as the others. */
  addRoutes?: (api: Api) => void
}

export interface HttpServer {
  url: string
  /** No token is required. */
  isOpen: boolean
  close(): Promise<void>
}

export async function serve({
  config,
  deployment,
  host,
  port,
  isReadOnly,
  addRoutes,
}: ServeOptions): Promise<HttpServer> {
  const { http, gateway, policy } = config
  const { tables, access, reading, live } = deployment
  const jwt = readJwtOptions(config)
  const trustedProxy = readProxyOptions(config)
  const hasNoToken = async () => (await access.listTokens()).every(({ revokedAt }) => revokedAt !== null)
  // Fails at once if nothing is installed or the database is unreachable.
  const isOpen = (await hasNoToken()) && jwt === undefined && trustedProxy === undefined
  if (isOpen && !isLoopbackAddress(host)) throw refusedAddress(host)
  const options: AppOptions = {
    tables,
    access,
    reading,
    live,
    policy,
    config,
    isReadOnly,
    // Once a token exists, everyone needs one. A server that required one never opens up.
    isOpenToLoopback: isOpen && hasNoToken,
    hasPublicMetrics: http.publicMetrics === '1',
    runDoctor: () => diagnoseAll(config),
    ...(http.environment === null ? {} : { environment: http.environment }),
    ...sourceCheckOf(gateway),
    ...(jwt === undefined ? {} : { jwt }),
    ...(trustedProxy === undefined ? {} : { trustedProxy }),
  }
  const app = buildApp(options)
  addRoutes?.(app.api)
  const server = await open(app.fetch, host, port)
  if (!isReadOnly) app.runOperations()
  const address = server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shown}:${address.port}`,
    isOpen,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await app.close()
      // Streams have ended; only idle connections are left.
      if (!('closeIdleConnections' in server)) return void (await closed)
      server.closeIdleConnections()
      // A client with an unfinished request would keep the process alive.
      const late = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS)
      await closed
      clearTimeout(late)
    },
  }
}

/** For requests in progress. */
const CLOSE_GRACE_MS = 5_000

function open(fetch: App['fetch'], hostname: string, port: number) {
  return new Promise<ServerType>((resolve, reject) => {
    const server = listen({ fetch, hostname, port }, () => resolve(server))
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, hostname, port)))
  })
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): UnstuckError {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the address is in use',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'unknown host name',
  }
  const reason = reasons[error.code ?? ''] ?? error.message
  return new UnstuckError('INVALID_CONFIG', `cannot listen on ${host}:${port}: ${reason}`, {
    hint: 'Choose another address with --host and --port, or UNSTUCK_HTTP_HOST and UNSTUCK_HTTP_PORT.',
    cause: error,
  })
}

function refusedAddress(host: string): UnstuckError {
  return new UnstuckError(
    'INVALID_CONFIG',
    `refusing to listen on ${host}: without tokens, everyone could change jobs`,
    {
      hint: 'Create a token first (unstuck tokens create), or set UNSTUCK_JWT_ISSUER or UNSTUCK_PROXY_HEADER. 127.0.0.1 needs none.',
    },
  )
}

/** Shorter secrets can be guessed. */
const MIN_SECRET_BYTES = 32

function readJwtOptions({ http }: Config): JwtOptions | undefined {
  const { jwtIssuer, jwtAudience, jwtJwksUrl, jwtSecret, jwtOwnerClaim } = http
  if ([jwtIssuer, jwtAudience, jwtJwksUrl, jwtSecret, jwtOwnerClaim].every((value) => value === null))
    return undefined
  if (jwtIssuer === null || jwtAudience === null || (jwtJwksUrl === null) === (jwtSecret === null)) {
    throw new UnstuckError(
      'INVALID_CONFIG',
      'JSON web tokens need UNSTUCK_JWT_ISSUER, UNSTUCK_JWT_AUDIENCE, and one of UNSTUCK_JWT_JWKS_URL and UNSTUCK_JWT_SECRET',
    )
  }
  if (jwtSecret !== null && Buffer.byteLength(jwtSecret) < MIN_SECRET_BYTES)
    throw new UnstuckError(
      'INVALID_CONFIG',
      `UNSTUCK_JWT_SECRET: must have at least ${MIN_SECRET_BYTES} bytes`,
    )
  return {
    issuer: jwtIssuer,
    audience: jwtAudience,
    ...(jwtJwksUrl === null ? {} : { jwksUrl: jwtJwksUrl }),
    ...(jwtSecret === null ? {} : { secret: jwtSecret }),
    ...(jwtOwnerClaim === null ? {} : { ownerClaim: jwtOwnerClaim }),
  }
}

function readProxyOptions({ http }: Config): TrustedProxyOptions | undefined {
  const { proxyHeader, proxyFrom, proxyRoles } = http
  if ([proxyHeader, proxyFrom, proxyRoles].every((value) => value === null)) return undefined
  if (proxyHeader === null || proxyFrom === null)
    throw new UnstuckError(
      'INVALID_CONFIG',
      'a trusted proxy needs UNSTUCK_PROXY_HEADER and UNSTUCK_PROXY_FROM',
    )
  return {
    header: proxyHeader,
    from: proxyFrom.split(',').map((range) => range.trim()),
    ...(proxyRoles === null ? {} : { roles: readRoles(proxyRoles) }),
  }
}
