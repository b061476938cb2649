// The cost of a large table: a worker's statements, an empty sweep, and the dashboard's queries.
import type { Bench, Measure, Values } from '../measure.ts'
import { installNative, type NativeStore, withNativeStore } from '../processes/native-store.ts'
import { percentile } from '../report/statistics.ts'
import { readBenchSql } from '../sql-file.mjs'
import { timed } from '../timed.ts'
import { timeWork } from './time-work.ts'

const BATCH = 100
/** Rows per statement while filling the table. */
const PART = 100_000

type Query = (store: NativeStore['store'], jobId: string) => Promise<unknown>

const dashboardQueries: Record<string, Query> = {
  'jobs, newest page': (store) => store.listJobs({}, { limit: 50 }),
  'jobs, dead': (store) => store.listJobs({ status: 'dead' }, { limit: 50 }),
  'jobs, running': (store) => store.listJobs({ status: 'running' }, { limit: 50 }),
  'jobs of a type that is not there': (store) => store.listJobs({ type: 'absent' }, { limit: 50 }),
  'a job': (store, jobId) => store.getJob(jobId),
  'events of a job': (store, jobId) => store.listEvents(jobId),
  'why a job waits': (store, jobId) => store.readJobFacts(jobId),
  'ids by prefix': (store, jobId) => store.findJobIds(jobId.slice(0, 8)),
  'dead letters by cause': (store) => store.groupDeadJobs(),
  health: (store) => store.readHealth(),
  queues: (store) => store.listQueues(),
  workers: (store) => store.listWorkers(),
  'stale leases': (store) => store.listStaleJobs(),
  reclaims: (store) => store.listReclaims(),
  sweeps: (store) => store.listSweeps(),
  objective: (store) => store.readSlo(),
}

interface Scenario {
  id: string
  name: string
  finished: number
  backoff: number
}

export const growth: Measure = {
  id: 'growth',
  title: 'Growth',
  method: `Median ms of one call on one connection, beside waiting jobs; claims and completions of ${BATCH}; each call of the dashboard as the HTTP API makes it.`,
  columns: () =>
    ['claim', 'complete', 'sweep', ...Object.keys(dashboardQueries)].map((key) => ({
      key,
      title: key,
      digits: 2,
    })),
  variants: (bench) =>
    scenarios(bench).map(({ id, name, ...scenario }) => ({
      id,
      name,
      run: () => measure(bench, id, scenario),
    })),
  isUpright: true,
}

function scenarios({ sizes }: Bench): Scenario[] {
  const { finished, backoff } = sizes.growth
  return [
    ...finished.map((count) => ({
      id: `finished-${count}`,
      name: count === 0 ? 'none finished' : `${count.toLocaleString('en')} finished`,
      finished: count,
      backoff: 0,
    })),
    { id: 'backoff', name: `${backoff.toLocaleString('en')} in backoff first`, finished: 0, backoff },
  ]
}

async function measure(
  { servers, sizes }: Bench,
  id: string,
  { finished, backoff }: Pick<Scenario, 'finished' | 'backoff'>,
): Promise<Values> {
  const { waiting, statements } = sizes.growth
  const url = await servers.shared({
    key: `growth ${id}`,
    async prepare(url) {
      await installNative(url)
      await withNativeStore(url, async ({ query }) => {
        // A statement with millions of rows would time out.
        for (let done = 0; done < finished; done += PART)
          await query(readBenchSql('seed_finished'), [done, Math.min(PART, finished - done)])
        if (backoff > 0) await query(readBenchSql('seed_backoff'), [backoff])
        await query(readBenchSql('seed_waiting'), [waiting])
      })
    },
  })
  return withNativeStore(url, async ({ store }) => ({
    ...(await timeWork({ store, batch: BATCH, calls: statements, warmUps: 2 })),
    ...(await measureQueries(store, Math.ceil(statements / 4))),
  }))
}

async function measureQueries(store: NativeStore['store'], times: number): Promise<Values> {
  const page = await store.listJobs({}, { limit: 1 })
  const jobId = page.jobs[0]?.id ?? ''
  const values: Values = {}
  for (const [name, query] of Object.entries(dashboardQueries)) {
    const tookMs: number[] = []
    for (let time = 0; time < times; time++) tookMs.push((await timed(() => query(store, jobId)))[0])
    values[name] = percentile(tookMs, 0.5)
  }
  return values
}
