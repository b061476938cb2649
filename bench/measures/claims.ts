// Claims per job. A worker that claims more jobs ahead than it starts releases them and claims them again, which means more
// writes for the same work.
import { TcpProxy } from '../../chaos/src/faults/tcp-proxy.ts'
import type { Addition, Crew } from '../contenders/contender.ts'
import { loadContender } from '../contenders/load-contender.mjs'
import { type Bench, LeftOut, type Measure, type Values } from '../measure.ts'
import { withNativeStore } from '../processes/native-store.ts'
import {
  addJobs,
  type BenchWorker,
  clockMs,
  pause,
  startBenchWorker,
  startLoad,
} from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'
import { CONCURRENCY, TYPES } from './handlers.ts'

/** Default concurrency of a worker. */
const SLOTS = 10
const DELAY_MS = 20
const LOAD = 8
const GIVE_UP_MS = 300_000
const slownesses = [10, 100, 1_000, 2_000, 5_000]
/** Shuffled, each equally often. */
const mixture = [100, 0, 5_000, 10, 2_000, 0, 1_000, 100, 10, 5_000, 0, 2_000, 1_000, 100, 10]

interface Cell {
  id: string
  name: string
  handlersMs: number[]
  jobs: number
  /** Jobs per second. Default: all are enqueued before the worker starts. */
  offeredPerS?: () => number
  delayMs?: number
  load?: number
  /** Default: the worker's defaults. */
  crew?: Crew
}

export const claims: Measure = {
  id: 'claims',
  title: 'Claims per job',
  method: `One worker with ${SLOTS} slots, or ${CONCURRENCY} where it says so; handlers that wait as long as the row says. Claims (the fences of all jobs) and updates of the job table per finished job, 1 and 2 at best: heartbeats add to the updates of slow jobs. An offered load is relative to what ${SLOTS} slots can do, at 0 ms to the jobs/s of the first row in the same repetition.`,
  columns: () => [
    { key: 'claimsPerJob', title: 'claims/job', digits: 3 },
    { key: 'updatesPerJob', title: 'updates/job', digits: 2 },
    { key: 'released', title: 'given back' },
    { key: 'reaped', title: 'reaped' },
    { key: 'jobsPerS', title: 'jobs/s' },
  ],
  variants(bench) {
    let noopsPerS = 1_000
    return cellsOf(bench, () => noopsPerS).map((cell) => ({
      id: cell.id,
      name: cell.name,
      async run() {
        const values = await measure(bench, cell)
        if (cell.id === 'backlog-0') noopsPerS = values['jobsPerS'] ?? noopsPerS
        return values
      },
    }))
  },
}

function cellsOf({ sizes, isQuick }: Bench, noopsPerS: () => number): Cell[] {
  const { noops, seconds, slowestMs } = sizes.claims
  // At least two for each slot.
  const jobsFor = (handlerMs: number, slots = SLOTS) =>
    handlerMs === 0 ? noops : slots * Math.max(2, Math.round((seconds * 1_000) / handlerMs))
  const isMeasured = (handlerMs: number) => handlerMs <= slowestMs
  const mixedMs = mixture.filter(isMeasured)
  const meanMs = mixedMs.reduce((sum, ms) => sum + ms, 0) / mixedMs.length
  const backlog = (ms: number): Cell => ({
    id: `backlog-${ms}`,
    name: `backlog, ${ms.toLocaleString('en')} ms`,
    handlersMs: [ms],
    jobs: jobsFor(ms),
  })
  const offered = (share: number, ms: number): Cell => ({
    ...backlog(ms),
    id: `offered-${share}-${ms}`,
    name: `offered load ${share}, ${ms} ms`,
    offeredPerS: () => share * (ms === 0 ? noopsPerS() : (SLOTS * 1_000) / ms),
  })
  const crewed = (ms: number, types: string[]): Cell => ({
    id: `crew-${ms}`,
    name: `backlog, ${ms.toLocaleString('en')} ms, ${CONCURRENCY} slots, ${types.length} ${types.length === 1 ? 'type' : 'types'}`,
    handlersMs: [ms],
    jobs: jobsFor(ms, CONCURRENCY),
    crew: { concurrency: CONCURRENCY, types },
  })
  return [
    ...[0, ...slownesses.filter(isMeasured)].map(backlog),
    { id: 'backlog-mixed', name: 'backlog, mixed', handlersMs: mixedMs, jobs: jobsFor(meanMs) },
    crewed(50, ['noop']),
    ...(isMeasured(1_000) && !isQuick ? [crewed(1_000, TYPES)] : []),
    ...[0, 150].flatMap((ms) => [offered(0.9, ms), offered(1.5, ms)]),
    { ...backlog(10), id: 'delay', name: `backlog, 10 ms, network delay ${DELAY_MS} ms`, delayMs: DELAY_MS },
    { ...backlog(0), id: 'load', name: `backlog, 0 ms, beside a load of ${LOAD}`, load: LOAD },
  ]
}

async function measure({ servers }: Bench, cell: Cell): Promise<Values> {
  const contender = await loadContender('unstuck')
  const addition: Addition = {
    mode: 'batch',
    width: 1_000,
    count: cell.jobs,
    handlersMs: cell.handlersMs,
    types: cell.crew?.types ?? ['noop'],
  }
  const fresh = await servers.fresh('postgres', {
    key: `claims ${cell.offeredPerS === undefined ? cell.id : 'none'}`,
    async prepare(url) {
      await contender.install(url)
      if (cell.offeredPerS === undefined) await addJobs('unstuck', url, [addition])
    },
  })
  const connection = await delayed(fresh.url, cell.delayMs)
  const load = startLoad(cell.load ?? 0)
  try {
    const worker = await (cell.crew === undefined
      ? startBenchWorker('unstuck', connection.url)
      : startBenchWorker('unstuck', connection.url, 'handle', { plan: cell.crew }))
    if (cell.offeredPerS !== undefined) {
      const width = Math.round(cell.offeredPerS())
      await addJobs('unstuck', fresh.url, [{ ...addition, mode: 'offered', width }])
    }
    const jobsPerS = await untilDone(worker, () => contender.countUnfinished(fresh.url))
    // Connections flush their statistics when they end.
    await worker.stop()
    return { ...(await readCounts(fresh.url)), jobsPerS }
  } finally {
    load.stop()
    connection.close()
    await fresh.drop()
  }
}

async function delayed(url: string, delayMs = 0): Promise<{ url: string; close(): void }> {
  if (delayMs === 0) return { url, close() {} }
  const target = new URL(url)
  const proxy = new TcpProxy(Number(target.port))
  const port = String(await proxy.listen())
  // Half in each direction.
  proxy.delay(delayMs / 2)
  return { url: Object.assign(target, { hostname: '127.0.0.1', port }).href, close: () => proxy.close() }
}

async function untilDone(worker: BenchWorker, countUnfinished: () => Promise<number>): Promise<number> {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  while ((await countUnfinished()) > 0) {
    if (clockMs() > giveUpAtMs) throw new LeftOut(`not done in ${GIVE_UP_MS / 1_000} s`)
    await pause(20)
  }
  const endedAtMs = clockMs()
  const { handled, firstAtMs } = worker.report()
  return (handled / (endedAtMs - (firstAtMs ?? 0))) * 1_000
}

async function readCounts(url: string): Promise<Values> {
  return withNativeStore(url, async ({ query }) => {
    const [writes] = await query<{ updates: number }>(readBenchSql('table_writes'))
    const [counts] = await query<{ finished: number; claims: number; released: number; reaped: number }>(
      readBenchSql('claim_counts'),
    )
    if (writes === undefined || counts === undefined) throw new Error('the table is not there')
    const { finished, claims, released, reaped } = counts
    return { claimsPerJob: claims / finished, updatesPerJob: writes.updates / finished, released, reaped }
  })
}
