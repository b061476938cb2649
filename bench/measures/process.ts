// Claim → handler → complete of no-op jobs, end to end: from the first handler until all jobs are finished.
import type { Contender, ContenderId } from '../contenders/contender.ts'
import { type Bench, contenderVariants, LeftOut, type Measure, type Values } from '../measure.ts'
import { addJobs, clockMs, pause, startBenchWorker } from '../processes/processes.ts'
import type { Fresh } from '../processes/servers.ts'

/** Upper bound of one run. */
const GIVE_UP_MS = 180_000

interface ProcessOptions {
  workers: number
  synchronousCommit?: 'on' | 'off'
}

const columns = [
  { key: 'jobsPerS', title: 'jobs/s' },
  { key: 'cpuUsPerJob', title: 'worker CPU µs/job', digits: 1 },
  { key: 'serverUsPerJob', title: 'server CPU µs/job', digits: 1 },
  { key: 'rssMb', title: 'worker RSS MB' },
]

export const processMeasures: Measure[] = [
  {
    id: 'process',
    title: 'Process: one worker process',
    method:
      'No-op jobs, added before through the contender’s own batch call; from the first handler until nothing is unfinished. CPU time of the server includes the connections of the worker. `synchronous_commit = on`.',
    columns: () => columns,
    variants: (bench) =>
      contenderVariants(bench, oneProcess(bench), (id, contender) =>
        measureProcess(bench, id, contender, { workers: 1 }),
      ),
    chart: { kind: 'bars', column: 'jobsPerS' },
  },
  {
    id: 'process-2',
    title: 'Process: two worker processes',
    method: 'As above, with two worker processes on the same queue.',
    columns: () => columns,
    variants: (bench) =>
      contenderVariants(bench, twoProcesses(bench), (id, contender) =>
        measureProcess(bench, id, contender, { workers: 2 }),
      ),
    chart: { kind: 'bars', column: 'jobsPerS' },
  },
  {
    id: 'process-off',
    title: 'Process: synchronous_commit off',
    method:
      'As the first, with commits that do not wait for the disk: the last fractions of a second may be lost.',
    columns: () => columns,
    variants: (bench) =>
      contenderVariants(bench, somePeers(bench), (id, contender) =>
        measureProcess(bench, id, contender, { workers: 1, synchronousCommit: 'off' }),
      ),
  },
]

function oneProcess({ isQuick }: Bench): ContenderId[] {
  const quick: ContenderId[] = [
    'unstuck',
    'unstuck-deleted',
    'unstuck-unfenced',
    'raw',
    'graphile-worker-fast',
    'pg-boss',
    'bullmq-redis',
    'bullmq-postgres',
    'river',
  ]
  return isQuick ? quick : [...quick, 'graphile-worker', 'bullmq-redis-fsync']
}

function twoProcesses(bench: Bench): ContenderId[] {
  return bench.isQuick ? somePeers(bench) : [...somePeers(bench), 'bullmq-redis', 'river']
}

function somePeers({ isQuick }: Bench): ContenderId[] {
  return isQuick
    ? ['unstuck', 'graphile-worker-fast']
    : ['unstuck', 'raw', 'graphile-worker-fast', 'graphile-worker', 'pg-boss', 'bullmq-postgres']
}

const jobsFor = ({ sizes }: Bench, { isSlow }: Contender): number =>
  isSlow === true ? sizes.slowJobs : sizes.jobs

/** A database with this many waiting jobs. */
export function filled(
  { servers }: Bench,
  id: ContenderId,
  contender: Contender,
  jobs: number,
  synchronousCommit: 'on' | 'off' = 'on',
): Promise<Fresh> {
  return servers.fresh(contender.needs, {
    key: `${id} ${jobs}`,
    async prepare(url) {
      await contender.install(url)
      await addJobs(id, url, [{ mode: 'batch', width: Math.min(jobs, 1_000), count: jobs }])
    },
    synchronousCommit,
  })
}

/** CPU time of the contender's server from now on, connections of the workers included. */
export function meterServer({ servers }: Bench, { needs }: Contender): () => number {
  const startMs = servers.cpuMs(needs)
  return () => servers.cpuMs(needs) - startMs
}

export async function measureProcess(
  bench: Bench,
  id: ContenderId,
  contender: Contender,
  { workers, synchronousCommit = 'on' }: ProcessOptions,
): Promise<Values> {
  const fresh = await filled(bench, id, contender, jobsFor(bench, contender), synchronousCommit)
  try {
    const total = await contender.countUnfinished(fresh.url)
    const serverCpu = meterServer(bench, contender)
    const running = await Promise.all(Array.from({ length: workers }, () => startBenchWorker(id, fresh.url)))
    const handled = () => running.reduce((sum, worker) => sum + worker.report().handled, 0)
    const giveUpAtMs = clockMs() + GIVE_UP_MS
    while (handled() < total && clockMs() < giveUpAtMs) await pause(2)
    while ((await contender.countUnfinished(fresh.url)) > 0 && clockMs() < giveUpAtMs) await pause(2)
    const endedAtMs = clockMs()
    const serverMs = serverCpu()
    const reports = running.map((worker) => worker.report())
    await Promise.all(running.map((worker) => worker.stop()))
    if (endedAtMs >= giveUpAtMs)
      throw new LeftOut(`${handled()} of ${total} jobs done in ${GIVE_UP_MS / 1_000} s`)
    const firstAtMs = Math.min(...reports.map(({ firstAtMs }) => firstAtMs ?? Number.POSITIVE_INFINITY))
    return {
      jobsPerS: (total / (endedAtMs - firstAtMs)) * 1_000,
      cpuUsPerJob: (reports.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / total) * 1_000,
      serverUsPerJob: (serverMs / total) * 1_000,
      rssMb: Math.max(...reports.map(({ rssMb }) => rssMb)),
    }
  } finally {
    await fresh.drop()
  }
}
