// Workers, and how fast the jobs of lost workers were rescued.
import type { DrainOutcome, Slo, WorkerStatus } from '../store/job-store.ts'
import {
  command,
  done,
  findTables,
  fromTables,
  type InTable,
  manualOptions,
  policyOf,
  refused,
} from './command.ts'
import { given } from './given.ts'

export const listWorkers = command('listWorkers', (context, input: InTable) =>
  fromTables<WorkerStatus>(context, input, ({ store }) => store.listWorkers()),
)

export interface DrainInput extends InTable {
  workerId: string
  reason?: string | undefined
}

export interface Drain {
  table: string
  workerId: string
  outcome: DrainOutcome
}

/** In every table that knows the worker: it may serve several. */
export const drainWorker = command('drainWorker', async (context, input: DrainInput) => {
  const { workerId, reason } = input
  const tables = findTables(context, input.table)
  if (!tables.isDone) return tables
  const drains: Drain[] = []
  for (const { name, store } of tables.value) {
    const outcome = await store.drainWorker(workerId, manualOptions(context, reason))
    drains.push({ table: name, workerId, outcome })
  }
  const asked = drains.find(({ outcome }) => outcome !== 'not-found' && outcome !== 'stopped')
  if (asked !== undefined) return done<Drain>(asked)
  if (drains.some(({ outcome }) => outcome === 'stopped'))
    return refused('STATE_CONFLICT', `worker ${workerId} has stopped already`)
  return refused('NOT_FOUND', `no worker has the id ${workerId}`)
})

export const readSlo = command(
  'readSlo',
  (context, { windowMs, ...input }: InTable & { windowMs?: number | undefined }) =>
    fromTables<Slo>(context, input, async ({ store }) => [
      await store.readSlo({ ...policyOf(context), ...given({ windowMs }) }),
    ]),
)
