// The cost of a job in things that can be counted. They depend on the code alone, so a change shows its price on a busy machine too.
import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, LeftOut, type Measure, type Values } from '../measure.ts'
import { closeGate } from '../processes/gate.ts'
import { addJobs, type BenchWorker, clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import { openServerCounts } from '../processes/server-counts.ts'
import type { Fresh } from '../processes/servers.ts'

const GIVE_UP_MS = 120_000

const serverColumns = [
  { key: 'calls', title: 'statements', digits: 3 },
  { key: 'innerStatements', title: 'in functions', digits: 3 },
  { key: 'transactions', title: 'transactions', digits: 3 },
  { key: 'walBytes', title: 'WAL bytes', digits: 0 },
  { key: 'buffers', title: 'buffers', digits: 1 },
  { key: 'dirtied', title: 'dirtied', digits: 3 },
  { key: 'indexInserts', title: 'index inserts', digits: 2 },
]

export const priceMeasures: Measure[] = [
  {
    id: 'price',
    title: 'The price of a job: claim and completion',
    method:
      'Per no-op job, one worker process, from when the started worker may claim until it has stopped: statements of the clients and those within their functions, transactions, bytes of WAL, buffers that were accessed and dirtied, and entries inserted into indexes. A server of its own counts them, without full-page images and autovacuum. Of the worker: bytes allocated on its heap, without buffers of sockets and other threads, and the time of garbage collection.',
    columns: () => [
      ...serverColumns,
      { key: 'allocatedBytes', title: 'worker bytes allocated', digits: 0 },
      { key: 'gcUs', title: 'worker GC µs', digits: 2 },
    ],
    variants: (bench) =>
      contenderVariants(bench, contenders(bench), (id, contender) => measureWork(bench, id, contender)),
  },
  {
    id: 'price-enqueue',
    title: 'The price of a job: enqueue',
    method: 'As above, for batches of 1,000 added by one producer process.',
    columns: () => serverColumns,
    variants: (bench) =>
      contenderVariants(bench, producers(bench), (id, contender) => measureEnqueue(bench, id, contender)),
  },
]

function contenders({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = ['unstuck', 'unstuck-deleted']
  return isQuick ? quick : [...quick, 'unstuck-unfenced', 'raw', 'graphile-worker-fast', 'pg-boss', 'river']
}

function producers({ isQuick }: Bench): ContenderId[] {
  return isQuick ? ['unstuck'] : ['unstuck', 'raw', 'graphile-worker-fast', 'pg-boss', 'river']
}

function observed(
  { servers, sizes }: Bench,
  id: ContenderId,
  { install }: Contender,
  isFilled: boolean,
): Promise<Fresh> {
  return servers.observed({
    key: `${id} ${isFilled ? 'filled' : 'empty'}`,
    async prepare(url) {
      await install(url)
      if (isFilled) await addJobs(id, url, [{ mode: 'batch', width: 1_000, count: sizes.price.jobs }])
    },
  })
}

async function measureWork(bench: Bench, id: ContenderId, contender: Contender): Promise<Values> {
  const fresh = await observed(bench, id, contender, true)
  try {
    const total = await contender.countUnfinished(fresh.url)
    const gate = await closeGate(fresh.url, contender)
    const worker = await startBenchWorker(id, fresh.url, 'work', { plan: { isProfiled: true } })
    try {
      await gate.settle()
      const counts = await openServerCounts(fresh.url)
      // The first question begins the profile.
      await worker.ask()
      await gate.open()
      await untilFinished(worker, total, () => contender.countUnfinished(fresh.url))
      const { allocatedBytes, gcMs } = await worker.ask()
      // Connections flush their statistics when they end.
      await worker.stop()
      return {
        ...(await counts.perJob(total)),
        ...(allocatedBytes === undefined ? {} : { allocatedBytes: allocatedBytes / total }),
        ...(gcMs === undefined ? {} : { gcUs: (gcMs / total) * 1_000 }),
      }
    } finally {
      await worker.stop()
    }
  } finally {
    await fresh.drop()
  }
}

async function untilFinished(
  worker: BenchWorker,
  total: number,
  countUnfinished: () => Promise<number>,
): Promise<void> {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  while (worker.report().handled < total && clockMs() < giveUpAtMs) await pause(5)
  while ((await countUnfinished()) > 0) {
    if (clockMs() > giveUpAtMs) throw new LeftOut(`not done in ${GIVE_UP_MS / 1_000} s`)
    await pause(20)
  }
}

async function measureEnqueue(bench: Bench, id: ContenderId, contender: Contender): Promise<Values> {
  const { jobs } = bench.sizes.price
  const fresh = await observed(bench, id, contender, false)
  try {
    const counts = await openServerCounts(fresh.url)
    await addJobs(id, fresh.url, [{ mode: 'batch', width: 1_000, count: jobs }])
    return await counts.perJob(jobs)
  } finally {
    await fresh.drop()
  }
}
