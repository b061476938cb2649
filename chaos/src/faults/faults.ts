// Injects one fault of the schedule, logs whom it disturbs, and heals it.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChaosDatabase, readSql } from '../processes/database.ts'
import type { Pooler } from '../processes/pooler.ts'
import type { ProcessSlot } from '../processes/process-slot.ts'
import type { SqlReaper } from '../processes/sql-reaper.ts'
import {
  fillDisk,
  killBackend,
  killPooler,
  lockTable,
  stopDatabase,
  useUpConnections,
  useUpPool,
  vacuumFull,
} from './database-faults.ts'
import type { Disturbances } from './disturbances.ts'
import {
  endAllPresences,
  endPresence,
  recoverSlowly,
  refusePresence,
  resetAll,
  useUpSlots,
} from './presence-faults.ts'
import type { Fault } from './schedule.ts'
import type { SmallDisk } from './small-disk.ts'
import { clockLibrary } from './worker-clock.ts'

/** Targets of a fault. With several shards: the parts of one of them, and all processes. */
export interface Scene {
  /** 0 for a single database. */
  shard: number
  database: ChaosDatabase
  /** Qualified name. */
  table: string
  workers: ProcessSlot[]
  reaper: ProcessSlot
  sqlReaper: SqlReaper
  disturbances: Pick<Disturbances, 'begin'>
  /** Null if this process may not mount one. */
  disk: SmallDisk | null
  /** Between the workers and the server. */
  pooler: Pooler | null
}
/** Resolves to whether the fault hit anything. */
export type Inject = (scene: Scene, slot: ProcessSlot, fault: Fault) => Promise<boolean>

/** How long an armed proxy waits for a request. */
const ARMED_MS = 1_500
const DELAYS_MS = [20, 150, 600]
const STEPS_S = [-86_400, -600, -4, -1, 1, 4, 600, 86_400]
const LOOKS = 60

const injections: Record<string, Inject> = {
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
    slot.order({ kind: 'block', durationMs })
    await sleep(durationMs)
    end()
    return true
  },
  'clock-stepped': stepClock,
  'pool-used-up': useUpPool,
  blackhole: (scene, slot, fault) =>
    breakProxy(scene, slot, fault, () => slot.proxyTo(scene.shard).blackhole()),
  delay: (scene, slot, fault) =>
    breakProxy(scene, slot, fault, () =>
      slot.proxyTo(scene.shard).delay(DELAYS_MS[fault.atMs % DELAYS_MS.length] ?? 20),
    ),
  'half-open': (scene, slot, fault) =>
    breakProxy(scene, slot, fault, () => slot.proxyTo(scene.shard).halfOpen()),
  reset: async (scene, slot) => {
    const end = scene.disturbances.begin(slot.name, 'reset')
    const count = slot.proxyTo(scene.shard).reset()
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
  'reaper-clock-stepped': stepClock,
  'reaper-reset': async (scene, slot) => slot.proxyTo(scene.shard).reset() > 0,
  'reaper-keeps-locks': async ({ sqlReaper, disturbances }, _, { durationMs, atMs }) => {
    const end = disturbances.begin('locks', 'reaper-keeps-locks')
    await sqlReaper.keepLocks(durationMs, atMs % 2 === 0).finally(end)
    return true
  },
  'connections-used-up': useUpConnections,
  'database-stopped': stopDatabase,
  'backend-killed': killBackend,
  'disk-full': fillDisk,
  'pooler-killed': killPooler,
  'table-locked': lockTable,
  'vacuum-full': vacuumFull,
  'presence-ended': endPresence,
  'presences-ended': endAllPresences,
  'proxies-reset': resetAll,
  'presence-refused': refusePresence,
  'slots-full': useUpSlots,
  'slow-recovery': recoverSlowly,
}

/** Resolves to whether the fault hit anything. */
export async function inject(scene: Scene, fault: Fault): Promise<boolean> {
  const slot = scene.workers.find(({ name }) => name === fault.target) ?? scene.reaper
  const injection = injections[fault.kind]
  if (injection === undefined) throw new Error(`unknown fault ${fault.kind}`)
  try {
    return await injection(scene, slot, fault)
  } catch {
    // Another fault came first: no session can be ended while the server is down.
    return false
  }
}

async function pause({ disturbances }: Scene, slot: ProcessSlot, durationMs: number) {
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

async function breakProxy(scene: Scene, slot: ProcessSlot, { kind, durationMs }: Fault, start: () => void) {
  const end = scene.disturbances.begin(slot.name, kind)
  start()
  await sleep(durationMs)
  slot.proxyTo(scene.shard).heal()
  end()
  return true
}

async function loseAnswer(scene: Scene, slot: ProcessSlot, { kind }: Fault, text: string) {
  const end = scene.disturbances.begin(slot.name, kind)
  const lost = new AbortController()
  slot.proxyTo(scene.shard).loseAnswerTo(text, () => lost.abort())
  await sleep(ARMED_MS, undefined, { signal: lost.signal }).catch(() => {})
  if (!lost.signal.aborted) slot.proxyTo(scene.shard).disarm()
  end()
  return lost.signal.aborted
}

async function hitSessions(scene: Scene, slot: ProcessSlot, { kind }: Fault, query: string) {
  const { database, disturbances, pooler } = scene
  if (!database.isUp) return false
  const sql = await readSql(query)
  // Behind a pooler the session's owner is unknown.
  const end = disturbances.begin(pooler === null ? slot.name : '*', kind)
  try {
    // Statements are short: retry until one is running.
    for (let look = 0; look < LOOKS; look++) {
      const rows = await database.look(sql, [
        pooler === null ? slot.proxyTo(scene.shard).upstreamPorts() : null,
      ])
      if ((rows as { count: number }[]).some(({ count }) => count > 0)) return true
      await sleep(10)
    }
    return false
  } finally {
    end()
  }
}

async function stepClock(
  { disturbances }: Scene,
  slot: ProcessSlot,
  { durationMs, atMs }: Fault,
): Promise<boolean> {
  if (clockLibrary === null) return false
  const end = disturbances.begin(slot.name, 'clock-stepped')
  slot.clock?.step(STEPS_S[atMs % STEPS_S.length] ?? 1)
  await sleep(durationMs)
  slot.clock?.step(0)
  end()
  return true
}
