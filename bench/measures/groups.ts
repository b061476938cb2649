// Jobs of groups beside plain ones: throughput, and CPU of the server for each job.
import { nativeProfile, type Unstuck, unstuck } from '../../dist/index.js'
import { migrateUp } from '../../dist/store/postgres/index.js'
import { queryOnce } from '../contenders/query-once.mjs'
import { type Bench, LeftOut, type Measure, type Values } from '../measure.ts'
import { clockMs, pause } from '../processes/processes.ts'
import { readBenchSql } from '../sql-file.mjs'

const GIVE_UP_MS = 180_000
const BATCH = 1_000
const SLOTS = 10
/** Jobs of a group that run at once. */
const PLACES = 10
const QUEUE = 'noop'

export const groups: Measure = {
  id: 'groups',
  title: 'Groups',
  method: `No-op jobs, enqueued in batches of ${BATCH.toLocaleString('en')} into a paused queue, each for the next group in turn, and then run by one process with ${SLOTS} slots. At most ${PLACES} jobs of a group run at once; in order, one. CPU time of the server is that of all its processes, by /proc. Plain jobs have no group, and their queue no limits.`,
  columns: () => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'serverUsPerJob', title: 'server CPU µs/job', digits: 1 },
    { key: 'enqueueUsPerJob', title: 'server CPU µs/job to enqueue', digits: 1 },
    { key: 'workerUsPerJob', title: 'worker CPU µs/job', digits: 1 },
  ],
  variants: (bench) => [
    { id: 'plain', name: 'Plain jobs', run: () => measure(bench, { groups: 0 }) },
    ...[1, 100, 10_000].map((count) => ({
      id: `groups-${count}`,
      name: count === 1 ? '1 group' : `${count.toLocaleString('en')} groups`,
      run: () => measure(bench, { groups: count }),
    })),
    {
      id: 'fifo-100',
      name: '100 groups, in order',
      run: () => measure(bench, { groups: 100, isFifo: true }),
    },
  ],
}

interface Grouping {
  /** 0: no groups. */
  groups: number
  isFifo?: boolean
}

async function measure({ servers, sizes }: Bench, grouping: Grouping): Promise<Values> {
  const { jobs } = sizes.groups
  const fresh = await servers.fresh('postgres', {
    key: 'groups',
    prepare: (url) =>
      migrateUp({ databaseUrl: url, schema: 'unstuck', profile: nativeProfile('unstuck') }).then(() => {}),
  })
  const app = unstuck({ databaseUrl: fresh.url, concurrency: SLOTS, logger: false })
  app.handle(QUEUE, async () => {})
  const metered = async (work: () => Promise<void>) => {
    const fromMs = servers.cpuMs('postgres')
    await work()
    return ((servers.cpuMs('postgres') - fromMs) / jobs) * 1_000
  }
  try {
    // Connected, with its services, before anything is measured.
    await app.start()
    await app.store.pauseQueue(QUEUE, { actor: 'bench' })
    if (grouping.groups > 0)
      await app.store.limitQueue(
        QUEUE,
        grouping.isFifo === true ? { groupConcurrency: 1, groupOrder: 'fifo' } : { groupConcurrency: PLACES },
        { actor: 'bench' },
      )
    const enqueueUsPerJob = await metered(() => enqueue(app, jobs, grouping.groups))
    const [beganAtMs, workerMs] = [clockMs(), cpuMs()]
    const serverUsPerJob = await metered(async () => {
      await app.store.resumeQueue(QUEUE, { actor: 'bench' })
      await untilDone(fresh.url)
    })
    return {
      jobsPerS: (jobs / (clockMs() - beganAtMs)) * 1_000,
      serverUsPerJob,
      enqueueUsPerJob,
      workerUsPerJob: ((cpuMs() - workerMs) / jobs) * 1_000,
    }
  } finally {
    await app.stop()
    await fresh.drop()
  }
}

async function enqueue(app: Unstuck, jobs: number, groups: number): Promise<void> {
  for (let from = 0; from < jobs; from += BATCH)
    await app.enqueueMany(
      Array.from({ length: Math.min(BATCH, jobs - from) }, (_, nth) => ({
        type: QUEUE,
        payload: { i: from + nth },
        ...(groups === 0 ? {} : { group: `g${(from + nth) % groups}` }),
      })),
    )
}

async function untilDone(url: string): Promise<void> {
  const giveUpAtMs = clockMs() + GIVE_UP_MS
  while ((await queryOnce(url, readBenchSql('unfinished_count'))) > 0) {
    if (clockMs() > giveUpAtMs) throw new LeftOut(`not done in ${GIVE_UP_MS / 1_000} s`)
    await pause(100)
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
