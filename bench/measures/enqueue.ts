import type { Addition, Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, type Measure, type Values } from '../measure.ts'
import { addJobs } from '../processes/processes.ts'

const columns = [
  { key: 'single', title: 'one by one, jobs/s' },
  { key: 'concurrent', title: '20 concurrent' },
  { key: 'batch100', title: 'batches of 100' },
  { key: 'batch1000', title: 'batches of 1,000' },
  { key: 'transaction', title: 'in the caller’s transaction' },
]

export const enqueueMeasures: Measure[] = [
  {
    id: 'enqueue',
    title: 'Enqueue',
    method:
      'Durable calls of one producer process, no worker: single calls of one caller, single calls of 20 concurrent callers, batches, and one job in each transaction that the caller opens and commits. `synchronous_commit = on`.',
    columns: () => columns,
    variants: (bench) =>
      contenderVariants(bench, contenders(bench), (id, contender) => measure(bench, id, contender, 'on')),
    chart: { kind: 'bars', column: 'concurrent' },
  },
  {
    id: 'enqueue-off',
    title: 'Enqueue: synchronous_commit off',
    isOnce: true,
    method: 'As above, with commits that do not wait for the disk.',
    columns: () => columns,
    variants: (bench) =>
      contenderVariants(bench, contendersOff(bench), (id, contender) => measure(bench, id, contender, 'off')),
  },
]

function contenders({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = ['unstuck', 'raw', 'graphile-worker-fast', 'pg-boss', 'river']
  return isQuick ? quick : [...quick, 'bullmq-redis', 'bullmq-redis-fsync', 'bullmq-postgres']
}

function contendersOff({ isQuick }: Bench): ContenderId[] {
  return isQuick
    ? ['unstuck']
    : ['unstuck', 'raw', 'graphile-worker-fast', 'pg-boss', 'river', 'bullmq-postgres']
}

async function measure(
  { servers, sizes }: Bench,
  id: ContenderId,
  { needs, install }: Contender,
  synchronousCommit: 'on' | 'off',
): Promise<Values> {
  const { singles, concurrent, batches } = sizes.enqueue
  const plan: Record<string, Addition> = {
    single: { mode: 'single', width: 1, count: singles },
    concurrent: { mode: 'single', width: 20, count: concurrent },
    batch100: { mode: 'batch', width: 100, count: batches },
    batch1000: { mode: 'batch', width: 1_000, count: batches },
    transaction: { mode: 'transaction', width: 1, count: singles },
  }
  const fresh = await servers.fresh(needs, { key: id, prepare: install, synchronousCommit })
  try {
    const elapsedMs = await addJobs(id, fresh.url, Object.values(plan))
    return Object.fromEntries(
      Object.entries(plan).flatMap(([key, { count }], index) => {
        const tookMs = elapsedMs[index] ?? null
        return tookMs === null ? [] : [[key, (count / tookMs) * 1_000]]
      }),
    )
  } finally {
    await fresh.drop()
  }
}
