// A webhook must not reach addresses that only this process can reach: cloud metadata, the database, the internal network
// (C22). The name is resolved once, the address checked, and the connection goes to that address.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

export interface Address {
  address: string
  family: 4 | 6
}

export type Resolve = (hostname: string) => Promise<Address[]>

export interface AddressOptions {
  /** Also allows plain HTTP and private addresses. */
  allowsPrivate: boolean
  /** Default: the system's resolver. */
  resolve?: Resolve
}

/** Throws if the address must not be called; the message is for the operator. */
export async function findAddress(url: URL, options: AddressOptions): Promise<Address> {
  const { allowsPrivate, resolve = resolveBySystem } = options
  if (url.protocol !== 'https:' && !(allowsPrivate && url.protocol === 'http:'))
    throw new Error(`refused: ${url.protocol.slice(0, -1)} is not https`)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(hostname)
  // An IP literal is not resolved, neither here nor by a connection: a check inside a resolver would never run.
  const found = family === 0 ? await resolve(hostname) : [{ address: hostname, family: family as 4 | 6 }]
  const [first] = found
  if (first === undefined) throw new Error(`refused: ${hostname} has no address`)
  // One private address is enough to refuse: the next lookup may return another order.
  const inner = found.find(({ address }) => isPrivateAddress(address))
  if (inner !== undefined && !allowsPrivate)
    throw new Error(`refused: ${inner.address} is not a public address`)
  return first
}

const resolveBySystem: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 4) return inner.check(address, 'ipv4')
  // For IPv6 only the public range is allowed; an IPv4-mapped address (::ffff:127.0.0.1) lies outside it.
  return !outer.check(address, 'ipv6') || inner.check(address, 'ipv6')
}

const inner = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  inner.addSubnet(network, prefix, 'ipv4')
// Tunnels to IPv4 (Teredo, 6to4) and documentation ranges lie inside the public range.
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  inner.addSubnet(network, prefix, 'ipv6')

const outer = new BlockList()
outer.addSubnet('2000::', 3, 'ipv6')
