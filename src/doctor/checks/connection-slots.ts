import type { DoctorFacts } from '../facts.ts'
import { type Finding, fine, warning } from '../finding.ts'

const CHECK = 'connection slots'
/** One for calls, one for heartbeats and presence each, one for hints; an idle worker closes that of heartbeats. */
const IDLE_CONNECTIONS = 3
const BESIDE_CALLS = 3

/** A fleet that fits while it is idle may still run out of slots under load. Transactions of handlers come on top. */
export function checkConnectionSlots({ server, route, tables, connections }: DoctorFacts): Finding[] {
  const workers = tables.reduce((sum, table) => sum + (table.workers?.length ?? 0), 0)
  const slots = server.connectionSlots
  // A pooler decides itself how many connections it opens.
  if (workers === 0 || route?.isDirect === false) return []
  const idle = workers * IDLE_CONNECTIONS
  const busy = workers * (connections + BESIDE_CALLS)
  const fleet = `${workers} ${workers === 1 ? 'worker' : 'workers'}`
  const message = `${fleet} need ${idle} connections while idle and up to ${busy} under load, of ${slots}`
  if (busy <= slots) return [fine(CHECK, message)]
  const share = Math.floor(slots / workers) - BESIDE_CALLS
  const lower = share >= 1 ? `Set UNSTUCK_CONNECTIONS=${share}, raise` : 'Raise'
  return [warning(CHECK, message, `${lower} max_connections, or connect through a pooler.`)]
}
