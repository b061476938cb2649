// The other end of the connection, from what servers hand to a fetch handler beside the request.
import { isIP } from 'node:net'

/** `@hono/node-server` and the like give the incoming message, Bun its server; or the address itself. */
export type Connection =
  | { incoming?: { socket?: { remoteAddress?: string | undefined } } }
  | { requestIP?: (request: Request) => { address: string } | null }
  | { address?: string }

/** Null where the server does not say. */
export function peerAddress(request: Request, connection: unknown): string | null {
  if (typeof connection !== 'object' || connection === null) return null
  const { incoming, address } = connection as Record<string, unknown>
  const found = fromIncoming(incoming) ?? fromBun(request, connection) ?? address
  if (typeof found !== 'string') return null
  // A socket that takes both families shows an IPv4 peer as ::ffff:192.0.2.7.
  const plain = found.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 0 ? null : plain
}

/** Null where the server does not hand the connection over. */
export function disconnectOf(connection: unknown): (() => void) | null {
  if (typeof connection !== 'object' || connection === null) return null
  const { outgoing } = connection as { outgoing?: { destroy?: () => unknown } }
  return typeof outgoing?.destroy === 'function' ? () => void outgoing.destroy?.() : null
}

function fromIncoming(incoming: unknown): string | undefined {
  return (incoming as { socket?: { remoteAddress?: string } } | undefined)?.socket?.remoteAddress
}

function fromBun(request: Request, connection: object): string | undefined {
  const server = connection as { requestIP?: (request: Request) => { address: string } | null }
  return typeof server.requestIP === 'function' ? server.requestIP(request)?.address : undefined
}
