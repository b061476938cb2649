// Ends of connections that a server which does not answer cannot hold up.
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

export const END_WAIT_MS = 2_000

/** Says goodbye, and closes the socket where nobody answers: an open one would keep the process. */
export async function endClient(client: pg.Client): Promise<void> {
  await settledWithin(client.end(), END_WAIT_MS)
  destroyClient(client)
}

/** Whoever waits for an answer on it gets `reason`. Does nothing to a connection that has ended. */
export function destroyClient(client: pg.ClientBase, reason?: Error): void {
  const { connection } = client as pg.ClientBase & { connection: { stream: Duplex } }
  connection.stream.destroy(reason)
}

/** Waits for it no longer than this, and keeps no process for it. */
export async function settledWithin(ending: Promise<unknown>, waitMs: number): Promise<void> {
  await Promise.race([ending.catch(() => {}), sleep(waitMs, undefined, { ref: false })])
}
