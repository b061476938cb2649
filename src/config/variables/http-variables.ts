import { shippedProfileNames } from '../../profile/shipped.ts'
import type { Variable } from './variable.ts'

const shared = { profiles: shippedProfileNames, requirement: 'OPS-1' } as const

export const httpVariables: readonly Variable[] = [
  {
    ...shared,
    name: 'UNSTUCK_HTTP_HOST',
    meaning:
      'Where `unstuck serve` listens. Another address than that of the machine itself needs a token or JWT.',
    kind: { type: 'text' },
    default: '127.0.0.1',
    sets: ['http.host'],
  },
  {
    ...shared,
    name: 'UNSTUCK_HTTP_PORT',
    meaning: 'The port of `unstuck serve`.',
    kind: { type: 'whole', unit: 'port', min: 1, max: 65535 },
    default: '4700',
    sets: ['http.port'],
  },
  {
    ...shared,
    name: 'UNSTUCK_READ_ONLY',
    meaning: 'With `1` the HTTP API refuses everything that changes something.',
    kind: { type: 'choice', words: ['0', '1'] },
    default: '0',
    sets: ['http.readOnly'],
  },
  {
    ...shared,
    name: 'UNSTUCK_ENVIRONMENT',
    meaning: 'What the dashboard calls this deployment, such as `production`.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.environment'],
  },
  {
    ...shared,
    name: 'UNSTUCK_METRICS_PUBLIC',
    meaning: 'With `1` `/metrics` of the HTTP API asks for no token.',
    kind: { type: 'choice', words: ['0', '1'] },
    default: '0',
    sets: ['http.publicMetrics'],
  },
  {
    ...shared,
    name: 'UNSTUCK_JWT_ISSUER',
    meaning:
      'Who makes the JSON web tokens that the HTTP API takes. With it, an audience and a key are needed.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.jwtIssuer'],
  },
  {
    ...shared,
    name: 'UNSTUCK_JWT_AUDIENCE',
    meaning: 'For whom they have to be made.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.jwtAudience'],
  },
  {
    ...shared,
    name: 'UNSTUCK_JWT_JWKS_URL',
    meaning: 'Where the public keys of the issuer are.',
    kind: { type: 'url', protocols: ['https:', 'http:'] },
    default: null,
    sets: ['http.jwtJwksUrl'],
  },
  {
    ...shared,
    name: 'UNSTUCK_JWT_SECRET',
    meaning: 'The shared key of the issuer, where there are no public ones.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.jwtSecret'],
    isSecret: true,
  },
  {
    ...shared,
    name: 'UNSTUCK_JWT_OWNER_CLAIM',
    meaning: 'The claim with the owner whose jobs the caller sees. Set: a token without it is refused.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.jwtOwnerClaim'],
  },
  {
    ...shared,
    name: 'UNSTUCK_PROXY_HEADER',
    meaning:
      'The header in which a proxy says whom it has logged in. With it, the addresses of the proxy are needed.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.proxyHeader'],
  },
  {
    ...shared,
    name: 'UNSTUCK_PROXY_FROM',
    meaning: 'The addresses of that proxy, such as `10.0.0.0/8,::1`. From others the header is not believed.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.proxyFrom'],
  },
  {
    ...shared,
    name: 'UNSTUCK_PROXY_ROLES',
    meaning:
      'The roles of its users, such as `ana=admin,*=viewer`. Everybody is a viewer where it is not set.',
    kind: { type: 'text' },
    default: null,
    sets: ['http.proxyRoles'],
  },
]
