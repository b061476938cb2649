// A proxy names the authenticated user in a header. Anyone can send a header: it is trusted only from the proxy's addresses.
import { BlockList, isIP } from 'node:net'
import { type Actor, isRole, type Role, roles } from '../../commands/actor.ts'
import { UnstuckError } from '../../errors/index.ts'
import type { TrustedProxyOptions } from '../app-options.ts'

export type ReadProxyUser = (request: Request, peer: string | null) => Actor | null

/** Headers with another meaning. */
const TAKEN_HEADERS = new Set(['authorization', 'cookie', 'host', 'origin', 'x-unstuck', 'if-match'])

export function createProxyReader({ header, from, roles: given }: TrustedProxyOptions): ReadProxyUser {
  if (!/^[a-z0-9-]{1,100}$/i.test(header) || TAKEN_HEADERS.has(header.toLowerCase()))
    throw refused(`the header of a trusted proxy cannot be ${JSON.stringify(header)}`)
  if (from.length === 0) throw refused('a trusted proxy needs its addresses')
  const addresses = new BlockList()
  for (const range of from) addRange(addresses, range)
  const roleOf = checkedRoles(given ?? { '*': 'viewer' })
  return (request, peer) => {
    const user = request.headers.get(header)
    if (user === null || peer === null) return null
    if (!addresses.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4')) return null
    // Two values: the proxy appended its own to one from the client.
    if (!/^[\x21-\x2b\x2d-\x7e]{1,200}$/.test(user)) return null
    const role = roleOf.get(user) ?? roleOf.get('*')
    return { id: `proxy:${user}`, scopes: role === undefined ? [] : roles[role] }
  }
}

function addRange(addresses: BlockList, range: string): void {
  const [address = '', bits, ...rest] = range.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const longest = family === 'ipv6' ? 128 : 32
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest)
  if (isIP(address) === 0 || !isRange || rest.length > 0)
    throw refused(`the addresses of a trusted proxy look like 10.0.0.0/8, got ${JSON.stringify(range)}`)
  addresses.addSubnet(address, bits === undefined ? longest : Number(bits), family)
}

function checkedRoles(given: Readonly<Record<string, string>>): ReadonlyMap<string, Role> {
  const checked = new Map<string, Role>()
  for (const [user, role] of Object.entries(given)) {
    if (!isRole(role)) throw refused(`trusted proxy: ${user} has the unknown role ${JSON.stringify(role)}`)
    checked.set(user, role)
  }
  return checked
}

const refused = (message: string) => new UnstuckError('INVALID_CONFIG', message)

/** `ana=admin,*=viewer` */
export function readRoles(text: string): Record<string, Role> {
  const pairs = text.split(',').map((pair) => {
    const [, user, role] = /^\s*([^\s=]+)=(\w+)\s*$/.exec(pair) ?? []
    if (user === undefined || role === undefined || !isRole(role))
      throw refused(
        `UNSTUCK_PROXY_ROLES: got ${JSON.stringify(pair)}, expected user=role, separated by commas`,
      )
    return [user, role] as const
  })
  return Object.fromEntries(pairs)
}
