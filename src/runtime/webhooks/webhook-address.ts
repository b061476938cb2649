// Whoever may add a webhook must not reach through us what only we can reach: the metadata of the cloud, the database, our
// own network (C22). So an address is resolved once, checked, and that one is connected to.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

export interface Address {
  address: string
  family: 4 | 6
}

export type Resolve = (hostname: string) => Promise<Address[]>

export interface AddressOptions {
  /** Plain HTTP and addresses of private networks too. */
  allowsPrivate: boolean
  /** The system's resolver where absent. */
  resolve?: Resolve
}

/** Throws where the address must not be called; the message is for the operator. */
export async function findAddress(url: URL, options: AddressOptions): Promise<Address> {
  const { allowsPrivate, resolve = resolveBySystem } = options
  if (url.protocol !== 'https:' && !(allowsPrivate && url.protocol === 'http:'))
    throw new Error(`refused: ${url.protocol.slice(0, -1)} is not https`)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(hostname)
  // The resolver is not asked for an IP literal, nor would a connection ask it: a check inside it would never run.
  const found = family === 0 ? await resolve(hostname) : [{ address: hostname, family: family as 4 | 6 }]
  const [first] = found
  if (first === undefined) throw new Error(`refused: ${hostname} has no address`)
  // One is enough: the next answer may come in another order.
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
  // Of IPv6 only what is handed out to the public is; an IPv4 address written as one (::ffff:127.0.0.1) is not.
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
// Tunnels to IPv4 (Teredo, 6to4) and documentation, inside what is public otherwise.
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  inner.addSubnet(network, prefix, 'ipv6')

const outer = new BlockList()
outer.addSubnet('2000::', 3, 'ipv6')
