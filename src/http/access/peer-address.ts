// The client's address, from the connection that servers pass to a fetch handler.
import { isIP } from 'node:net'

/** The incoming message (`@hono/node-server`), Bun's server, or the address. */
export type Connection =
  | { incoming?: { socket?: { remoteAddress?: string | undefined } } }
  | { requestIP?: (request: Request) => { address: string } | null }
  | { address?: string }

/** Null if unknown. */
export function peerAddress(request: Request, connection: unknown): string | null {
  if (typeof connection !== 'object' || connection === null) return null
  const { incoming, address } = connection as Record<string, unknown>
  const found = fromIncoming(incoming) ?? fromBun(request, connection) ?? address
  if (typeof found !== 'string') return null
  // A dual-stack socket shows an IPv4 peer as ::ffff:192.0.2.7.
  const plain = found.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 0 ? null : plain
}

/** Null if the server does not pass the connection. */
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
