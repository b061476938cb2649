// Carries one fault of a round out, keeps a note of whom it disturbs, and undoes it.
import { setTimeout as sleep } from 'node:timers/promises'
import { DEPLOY_GRACE_MS } from './settings.mjs'

/** @import { ChaosDatabase } from '../processes/database.mjs' */
/** @import { Disturbances } from '../faults/disturbances.mjs' */
/** @import { ProcessSlot } from '../processes/process-slot.mjs' */
/** @import { Fault } from '../faults/schedule.mjs' */
/**
 * @typedef {object} PeerScene
 * @property {ChaosDatabase} database
 * @property {ProcessSlot[]} workers
 * @property {Disturbances} disturbances
 * @property {{ workerId: string, at: number }[]} kills
 * @property {{ workerId: string, at: number }[]} deploys
 */

const RESTART_MS = 200

/**
 * @param {PeerScene} scene
 * @param {Fault} fault
 */
export async function injectPeerFault(scene, fault) {
  if (fault.kind === 'database-stopped') return stopDatabase(scene, fault)
  const slots = scene.workers.filter(({ name }) => fault.target === 'all' || name === fault.target)
  await Promise.all(slots.map((slot) => injectInto(scene, slot, fault)))
}

/**
 * @param {PeerScene} scene
 * @param {ProcessSlot} slot
 * @param {Fault} fault
 */
async function injectInto({ disturbances, kills, deploys }, slot, { kind, durationMs }) {
  if (kind === 'kill') {
    kills.push({ workerId: slot.workerId, at: Date.now() })
    slot.restartMs = durationMs
    slot.signal('SIGKILL')
    return
  }
  if (kind === 'deploy') {
    deploys.push({ workerId: slot.workerId, at: Date.now() })
    return deploy(disturbances, slot)
  }
  const end = disturbances.begin(slot.name, kind)
  if (kind === 'pause') slot.signal('SIGSTOP')
  else if (kind === 'block') slot.order({ kind: 'block', durationMs })
  else slot.proxy.blackhole()
  await sleep(durationMs)
  if (kind === 'pause') slot.signal('SIGCONT')
  else if (kind === 'blackhole') slot.proxy.heal()
  end()
}

/**
 * @param {Disturbances} disturbances
 * @param {ProcessSlot} slot
 */
async function deploy(disturbances, slot) {
  const { workerId } = slot
  disturbances.begin(workerId, 'terminate')
  slot.restartMs = RESTART_MS
  slot.signal('SIGTERM')
  await sleep(DEPLOY_GRACE_MS)
  if (slot.workerId === workerId) slot.signal('SIGKILL')
}

/**
 * @param {PeerScene} scene
 * @param {Fault} fault
 */
async function stopDatabase({ database, disturbances }, { durationMs }) {
  const end = disturbances.begin('*', 'database-stopped')
  await database.stopAtOnce()
  await sleep(durationMs)
  await database.startAgain()
  end()
}
