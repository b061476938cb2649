// A hand-rolled worker, as often written: take a job, mark it as processing, work, mark it as done.
import { setTimeout as sleep } from 'node:timers/promises'
import { blockMs, type FromProcess, type Kind, readProcessSettings, workerIdOf } from '../demo-settings.ts'
import { openHandRolledTable } from './hand-rolled-table.ts'

const { name, databaseUrl, schema, gatewayUrl } = readProcessSettings()
const worker = workerIdOf(name, process.pid)
const table = openHandRolledTable(databaseUrl, schema)
const IDLE_MS = 150
process.once('disconnect', () => process.exit(1))
process.send?.({ kind: 'ready' } satisfies FromProcess)

for (;;) {
  const job = await table.claim(worker)
  if (job === undefined) await sleep(IDLE_MS)
  else await table.end(job.n, (await hasWorked(job)) ? 'done' : 'failed')
}

async function hasWorked({ kind, durationMs }: { kind: Kind; durationMs: number }): Promise<boolean> {
  if (kind === 'poison') process.kill(process.pid, 'SIGKILL')
  if (kind === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs)
  else await sleep(durationMs)
  return kind !== 'convert' || (await fetch(gatewayUrl, { method: 'POST' })).ok
}
