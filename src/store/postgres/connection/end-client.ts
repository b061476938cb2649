// Closes connections without waiting for a server that does not answer.
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

export const END_WAIT_MS = 2_000

/** Ends the session, or destroys the socket if the server does not answer: an open socket keeps the process alive. */
export async function endClient(client: pg.Client): Promise<void> {
  await settledWithin(client.end(), END_WAIT_MS)
  destroyClient(client)
}

/** Rejects pending queries with `reason`. No-op if the connection has ended. */
export function destroyClient(client: pg.ClientBase, reason?: Error): void {
  const { connection } = client as pg.ClientBase & { connection: { stream: Duplex } }
  connection.stream.destroy(reason)
}

/** Waits at most this long, without keeping the process alive. */
export async function settledWithin(ending: Promise<unknown>, waitMs: number): Promise<void> {
  await Promise.race([ending.catch(() => {}), sleep(waitMs, undefined, { ref: false })])
}
