// Injects one fault of a round, logs whom it disturbs, and heals it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Disturbances } from '../faults/disturbances.ts'
import type { Fault } from '../faults/schedule.ts'
import type { ChaosDatabase } from '../processes/database.ts'
import type { ProcessSlot } from '../processes/process-slot.ts'
import { DEPLOY_GRACE_MS } from './settings.ts'

export interface PeerScene {
  database: ChaosDatabase
  workers: ProcessSlot[]
  disturbances: Disturbances
  kills: { workerId: string; at: number }[]
  deploys: { workerId: string; at: number }[]
}

const RESTART_MS = 200

export async function injectPeerFault(scene: PeerScene, fault: Fault) {
  if (fault.kind === 'database-stopped') return stopDatabase(scene, fault)
  const slots = scene.workers.filter(({ name }) => fault.target === 'all' || name === fault.target)
  await Promise.all(slots.map((slot) => injectInto(scene, slot, fault)))
}

async function injectInto(
  { disturbances, kills, deploys }: PeerScene,
  slot: ProcessSlot,
  { kind, durationMs }: Fault,
) {
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
  else slot.proxyTo(0).blackhole()
  await sleep(durationMs)
  if (kind === 'pause') slot.signal('SIGCONT')
  else if (kind === 'blackhole') slot.proxyTo(0).heal()
  end()
}

async function deploy(disturbances: Disturbances, slot: ProcessSlot) {
  const { workerId } = slot
  disturbances.begin(workerId, 'terminate')
  slot.restartMs = RESTART_MS
  slot.signal('SIGTERM')
  await sleep(DEPLOY_GRACE_MS)
  if (slot.workerId === workerId) slot.signal('SIGKILL')
}

async function stopDatabase({ database, disturbances }: PeerScene, { durationMs }: Fault) {
  const end = disturbances.begin('*', 'database-stopped')
  await database.stopAtOnce()
  await sleep(durationMs)
  await database.startAgain()
  end()
}
