// Checks before any work: the host, the origin and the content type of a request.

import { ApiProblem } from '../problem.ts'
import type { Authenticated } from './authenticate.ts'

const isRead = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

const LOOPBACK_NAMES = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** For an address to bind, without a port. */
export const isLoopbackAddress = (host: string) =>
  host === '::1' || (LOOPBACK_NAMES.test(host) && !host.includes(':'))

/** Against DNS rebinding: a foreign name may resolve to this machine. */
export function requireLoopbackHost(request: Request): void {
  const host = request.headers.get('host') ?? new URL(request.url).host
  if (!LOOPBACK_NAMES.test(host))
    throw new ApiProblem('FORBIDDEN', 'this server is local: use localhost or 127.0.0.1')
}

/** Against CSRF: a write with ambient credentials must come from a page of this server. */
export function requireOwnPage(request: Request, { isAmbient }: Authenticated): void {
  if (!isAmbient || isRead(request.method)) return
  const { headers } = request
  if (!['cookie', 'origin', 'sec-fetch-site'].some((name) => headers.has(name))) return
  if (headers.get('sec-fetch-site') !== 'same-origin' || headers.get('x-unstuck') !== '1')
    throw new ApiProblem(
      'FORBIDDEN',
      'a browser must send this from a page of this server, with the header X-Unstuck: 1',
    )
}

/** Against CSRF: a form of another site cannot send this type without a preflight request. */
export function requireJson({ method, headers }: Request): void {
  if (isRead(method)) return
  const type = headers.get('content-type')
  const hasBody = Number(headers.get('content-length') ?? 0) > 0 || headers.has('transfer-encoding')
  if (type === null ? hasBody : !/^application\/json(?:\s*;|\s*$)/i.test(type))
    throw new ApiProblem('UNSUPPORTED_MEDIA_TYPE', 'the content type must be application/json')
}

/** Some clients declare JSON without sending a body. */
export function withoutEmptyBody(request: Request): Request {
  const { method, headers, url, signal } = request
  if (isRead(method) || !headers.has('content-type')) return request
  if (headers.get('content-length') !== '0' && request.body !== null) return request
  const rest = new Headers(headers)
  rest.delete('content-type')
  return new Request(url, { method, headers: rest, signal })
}

const CONTENT_POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "script-src 'self'",
  "style-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const secureHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
