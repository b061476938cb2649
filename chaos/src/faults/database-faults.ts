// Faults of the server and of the pooler in front of it.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readSql } from '../processes/database.ts'
import { LEASE_MS } from '../settings.ts'
import type { Inject, Scene } from './faults.ts'

/** Upper bound of a crash recovery. After it the run is broken. */
const RECOVERY_LIMIT_MS = 60_000

export const useUpConnections: Inject = async ({ database, disturbances }, _, { durationMs }) => {
  const clients: pg.Client[] = []
  const end = disturbances.begin('*', 'connections-used-up')
  try {
    for (let count = 0; count < 200; count++) {
      const client = new pg.Client({
        connectionString: database.url,
        application_name: 'uses up connections',
      })
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
    }
  } catch {
    // No connection is left.
  }
  await sleep(durationMs)
  await Promise.all(clients.map((client) => client.end().catch(() => {})))
  end()
  return true
}

export const stopDatabase: Inject = async ({ database, disturbances }, _, { durationMs }) => {
  const end = disturbances.begin('*', 'database-stopped')
  await database.stopAtOnce()
  await sleep(durationMs)
  await database.startAgain()
  // Workers reconnect on their own; the reaper's hold lasts one lease (C9).
  end()
  await sleep(LEASE_MS)
  return true
}

/** Like the OOM killer. The server ends all sessions and goes through crash recovery. */
export const killBackend: Inject = async ({ database, disturbances }) => {
  if (!database.isUp) return false
  const [row] = (await database.look(await readSql('find_backend'))) as { pid: number }[]
  if (row === undefined) return false
  const end = disturbances.begin('*', 'backend-killed')
  process.kill(row.pid, 'SIGKILL')
  // Gives the postmaster time to notice.
  await sleep(50)
  await untilAnswered(database).finally(end)
  return true
}

async function untilAnswered(database: Scene['database']) {
  const from = performance.now()
  while (performance.now() - from < RECOVERY_LIMIT_MS) {
    try {
      await database.look('select 1')
      return
    } catch {
      await sleep(50)
    }
  }
  throw new Error('the server did not recover after a backend was killed')
}

/** Locks that block writers, as taken by ALTER and TRUNCATE, REFRESH, CREATE TRIGGER, CREATE INDEX. */
const LOCK_MODES = ['access exclusive', 'exclusive', 'share row exclusive', 'share']

export const lockTable: Inject = async ({ database, table, disturbances }, _, { durationMs, atMs }) => {
  const mode = LOCK_MODES[atMs % LOCK_MODES.length]
  return database.withClient(async (client) => {
    await client.query('begin')
    const end = disturbances.begin('*', 'table-locked')
    await client.query(`lock table ${table} in ${mode} mode`)
    await sleep(durationMs)
    await client.query('rollback').finally(end)
    return true
  })
}

/** Takes as long as on a large table: an open reader blocks it, and everybody else queues behind it. */
export const vacuumFull: Inject = async ({ database, table, disturbances }, _, { durationMs }) => {
  return database.withClient(async (reader) => {
    await reader.query('begin')
    await reader.query(`select from ${table} limit 1`)
    const end = disturbances.begin('*', 'vacuum-full')
    const vacuumed = database.withClient((client) => client.query(`vacuum full ${table}`))
    await sleep(durationMs)
    await reader.query('commit')
    await vacuumed.finally(end)
    return true
  })
}

export const fillDisk: Inject = async ({ disk, disturbances }, _, { durationMs }) => {
  if (disk === null) return false
  const end = disturbances.begin('*', 'disk-full')
  const isFull = disk.fill()
  if (isFull) await sleep(durationMs)
  disk.free()
  end()
  return isFull
}

export const killPooler: Inject = async ({ pooler, disturbances }, _, { durationMs }) => {
  if (pooler === null) return false
  const end = disturbances.begin('*', 'pooler-killed')
  await pooler.kill()
  await sleep(durationMs)
  await pooler.run().finally(end)
  return true
}

export const useUpPool: Inject = async ({ database, disturbances }, slot, { durationMs }) => {
  const lock = await readSql('lock_schedules')
  const end = disturbances.begin(slot.name, 'pool-used-up')
  try {
    await database.withClient(async (client) => {
      await client.query('begin')
      await client.query(lock)
      slot.order({ kind: 'use-up-pool' })
      await sleep(durationMs)
      await client.query('rollback')
    })
  } finally {
    end()
  }
  return true
}
