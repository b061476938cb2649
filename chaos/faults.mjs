// Carries one fault of the schedule out, keeps a note of whom it disturbs, and undoes it.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { queryRows, readSql } from './database.mjs'
import { LEASE_MS } from './settings.mjs'

/** @import { ChaosDatabase } from './database.mjs' */
/** @import { Disturbances } from './disturbances.mjs' */
/** @import { ProcessSlot } from './process-slot.mjs' */
/** @import { Fault } from './schedule.mjs' */
/** @import { SqlReaper } from './sql-reaper.mjs' */
/**
 * @typedef {object} Scene
 * @property {ChaosDatabase} database
 * @property {ProcessSlot[]} workers
 * @property {ProcessSlot} reaper
 * @property {SqlReaper} sqlReaper
 * @property {Disturbances} disturbances
 */
/** @typedef {(scene: Scene, slot: ProcessSlot, fault: Fault) => Promise<boolean>} Inject whether anything was hit */

/** How long an armed proxy waits for a request. */
const ARMED_MS = 1_500
const DELAYS_MS = [20, 150, 600]

/** @type {Record<string, Inject>} */
const injections = {
  kill: async (_, slot, { durationMs }) => {
    slot.restartMs = durationMs
    slot.signal('SIGKILL')
    return true
  },
  pause: (scene, slot, { durationMs }) => pause(scene, slot, durationMs),
  terminate: async (_, slot, { durationMs }) => {
    slot.restartMs = durationMs
    slot.signal('SIGTERM')
    return true
  },
  block: async ({ disturbances }, slot, { durationMs }) => {
    const end = disturbances.begin(slot.name, 'block')
    slot.block(durationMs)
    await sleep(durationMs)
    end()
    return true
  },
  blackhole: (scene, slot, fault) => breakProxy(scene, slot, fault, () => slot.proxy.blackhole()),
  delay: (scene, slot, fault) =>
    breakProxy(scene, slot, fault, () => slot.proxy.delay(DELAYS_MS[fault.atMs % DELAYS_MS.length] ?? 20)),
  'half-open': (scene, slot, fault) => breakProxy(scene, slot, fault, () => slot.proxy.halfOpen()),
  reset: async ({ disturbances }, slot) => {
    const end = disturbances.begin(slot.name, 'reset')
    const count = slot.proxy.reset()
    end()
    return count > 0
  },
  'answer-lost': (scene, slot, fault) => loseAnswer(scene, slot, fault, '"unstuck"'),
  'commit-answer-lost': (scene, slot, fault) => loseAnswer(scene, slot, fault, '_jobs'),
  'statement-cancelled': (scene, slot, fault) => hitSessions(scene, slot, fault, 'cancel_statements'),
  'session-ended': (scene, slot, fault) => hitSessions(scene, slot, fault, 'end_sessions'),
  'reaper-kill': async (_, slot, { durationMs }) => {
    slot.restartMs = durationMs
    slot.signal('SIGKILL')
    return true
  },
  'reaper-pause': (scene, slot, { durationMs }) => pause(scene, slot, durationMs),
  'reaper-reset': async (_, slot) => slot.proxy.reset() > 0,
  'reaper-keeps-locks': async ({ sqlReaper, disturbances }, _, { durationMs, atMs }) => {
    const end = disturbances.begin('locks', 'reaper-keeps-locks')
    await sqlReaper.keepLocks(durationMs, atMs % 2 === 0).finally(end)
    return true
  },
  'connections-used-up': useUpConnections,
  'database-stopped': stopDatabase,
}

/**
 * @param {Scene} scene
 * @param {Fault} fault
 * @returns {Promise<boolean>} whether anything was hit
 */
export async function inject(scene, fault) {
  const slot = scene.workers.find(({ name }) => name === fault.target) ?? scene.reaper
  const injection = injections[fault.kind]
  if (injection === undefined) throw new Error(`unknown fault ${fault.kind}`)
  try {
    return await injection(scene, slot, fault)
  } catch {
    // Another fault was there first: a session cannot be ended while the server is down.
    return false
  }
}

/**
 * @param {Scene} scene
 * @param {ProcessSlot} slot
 * @param {number} durationMs
 */
async function pause({ disturbances }, slot, durationMs) {
  if (slot.isPaused) return false
  slot.isPaused = true
  const end = disturbances.begin(slot.name, 'pause')
  slot.signal('SIGSTOP')
  await sleep(durationMs)
  slot.signal('SIGCONT')
  slot.isPaused = false
  end()
  return true
}

/**
 * @param {Scene} scene
 * @param {ProcessSlot} slot
 * @param {Fault} fault
 * @param {() => void} start
 */
async function breakProxy({ disturbances }, slot, { kind, durationMs }, start) {
  const end = disturbances.begin(slot.name, kind)
  start()
  await sleep(durationMs)
  slot.proxy.heal()
  end()
  return true
}

/**
 * @param {Scene} scene
 * @param {ProcessSlot} slot
 * @param {Fault} fault
 * @param {string} text
 */
async function loseAnswer({ disturbances }, slot, { kind }, text) {
  const end = disturbances.begin(slot.name, kind)
  const lost = new AbortController()
  slot.proxy.loseAnswerTo(text, () => lost.abort())
  await sleep(ARMED_MS, undefined, { signal: lost.signal }).catch(() => {})
  if (!lost.signal.aborted) slot.proxy.disarm()
  end()
  return lost.signal.aborted
}

/**
 * @param {Scene} scene
 * @param {ProcessSlot} slot
 * @param {Fault} fault
 * @param {string} query
 */
async function hitSessions({ database, disturbances }, slot, { kind }, query) {
  if (!database.isUp) return false
  const sql = await readSql(query)
  const end = disturbances.begin(slot.name, kind)
  try {
    return await database.withClient(async (client) => {
      // Statements are short: some looks until one is under way.
      for (let look = 0; look < 20; look++) {
        const rows = await queryRows(client, sql, [slot.proxy.upstreamPorts()])
        if (/** @type {{ count: number }[]} */ (rows).some(({ count }) => count > 0)) return true
        await sleep(10)
      }
      return false
    })
  } finally {
    end()
  }
}

/** @type {Inject} */
async function useUpConnections({ database, disturbances }, _, { durationMs }) {
  /** @type {pg.Client[]} */
  const clients = []
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
    // That was the last one.
  }
  await sleep(durationMs)
  await Promise.all(clients.map((client) => client.end().catch(() => {})))
  end()
  return true
}

/** @type {Inject} */
async function stopDatabase({ database, disturbances }, _, { durationMs }) {
  const end = disturbances.begin('*', 'database-stopped')
  await database.stopAtOnce()
  await sleep(durationMs)
  await database.startAgain()
  // Workers find their way back within their reconnect times; the hold lasts one lease (C9).
  end()
  await sleep(LEASE_MS)
  return true
}
