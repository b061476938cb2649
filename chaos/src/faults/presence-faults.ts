// Faults of the sessions that show workers alive: ended, refused, or gone with a server that recovers.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readSql } from '../processes/database.ts'
import { killBackend } from './database-faults.ts'
import type { Inject, Scene } from './faults.ts'

const HOG_EVERY_MS = 20

/** Behind a pooler there are none. */
async function endSessions({ database }: Scene, ports: number[] | null) {
  const rows = (await database.look(await readSql('end_presences'), [ports])) as { count: number }[]
  return rows.some(({ count }) => count > 0)
}

export const endPresence: Inject = async (scene, slot) => {
  const end = scene.disturbances.begin(slot.name, 'presence-ended')
  return endSessions(scene, slot.proxyTo(scene.shard).upstreamPorts()).finally(end)
}

export const endAllPresences: Inject = async (scene) => {
  const end = scene.disturbances.begin('*', 'presence-ended')
  return endSessions(scene, null).finally(end)
}

/** It cannot come back before this is over, and its other connections stay. */
export const refusePresence: Inject = async (scene, slot, { durationMs }) => {
  const end = scene.disturbances.begin(slot.name, 'presence-refused')
  slot.proxyTo(scene.shard).refuse()
  try {
    const isHit = await endSessions(scene, slot.proxyTo(scene.shard).upstreamPorts())
    await sleep(durationMs)
    return isHit
  } finally {
    slot.proxyTo(scene.shard).heal()
    end()
  }
}

/** As when a load balancer in front of the server restarts. */
export const resetAll: Inject = async ({ shard, workers, reaper, disturbances }) => {
  const end = disturbances.begin('*', 'reset')
  const count = [...workers, reaper].reduce((sum, slot) => sum + slot.proxyTo(shard).reset(), 0)
  end()
  return count > 0
}

/** No slot is left, and the session of one worker ends: whether it gets the free slot again is chance. */
export const useUpSlots: Inject = async (scene, slot, { durationMs }) => {
  const { database, disturbances } = scene
  const clients: pg.Client[] = []
  const untilMs = performance.now() + durationMs
  const end = disturbances.begin('*', 'slots-full')
  let isHit = false
  try {
    // Warm, so that it works without a free slot.
    await database.look('select 1')
    let isFull = false
    while (performance.now() < untilMs) {
      const isTaken = await takeSlot(database.url, clients)
      if (isTaken) continue
      if (!isFull) isHit = await endSessions(scene, slot.proxyTo(scene.shard).upstreamPorts())
      else await sleep(HOG_EVERY_MS)
      isFull = true
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
    end()
  }
  return isHit
}

async function takeSlot(connectionString: string, clients: pg.Client[]) {
  const client = new pg.Client({ connectionString, application_name: 'takes a slot' })
  client.on('error', () => {})
  try {
    await client.connect()
    clients.push(client)
    return true
  } catch {
    return false
  }
}

/**
 * One backend is killed while another is frozen: the server ends the other sessions at once, waits 5 s for the frozen one before
 * it kills it, and recovers. Its start time stays.
 */
export const recoverSlowly: Inject = async (scene, slot, fault) => {
  const { database } = scene
  if (!database.isUp) return false
  return database.withClient(async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pid = rows[0]?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    try {
      return await killBackend(scene, slot, fault)
    } finally {
      try {
        process.kill(pid, 'SIGCONT')
      } catch {
        // The server has killed it.
      }
    }
  })
}
