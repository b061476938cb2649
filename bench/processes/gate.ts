// Holds a worker back until it has started and opened its connections: otherwise the first claim, which is most of the work for a
// product that claims thousands at once, would be over before a measure begins.
import pg from 'pg'
import type { Contender } from '../contenders/contender.ts'
import { pause } from './processes.ts'

const SETTLE_MS = 500

export interface Gate {
  /** Returns when a worker that has been started waits. */
  settle(): Promise<void>
  open(): Promise<void>
}

/** Locks the table of the jobs. Without one, the worker claims from its start. */
export async function closeGate(url: string, { jobTable }: Contender): Promise<Gate> {
  if (jobTable === undefined) return { settle: async () => {}, open: async () => {} }
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query(`lock table ${jobTable} in exclusive mode`)
  return { settle: () => pause(SETTLE_MS), open: () => client.end() }
}
