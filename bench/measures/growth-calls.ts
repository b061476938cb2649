// The calls of a worker, of a reaper and of people who look, each with its server CPU time and the pages it touches.
import { readFileSync } from 'node:fs'
import type { Lease } from '../../dist/index.js'
import type { Values } from '../measure.ts'
import type { NativeStore } from '../processes/native-store.ts'
import { percentile } from '../report/statistics.ts'

export const BATCH = 100
const QUEUE = 'noop'
const NEVER = 'absent'

type Store = NativeStore['store']

interface Work {
  store: Store
  /** A job of the table. */
  jobId: string
  /** Leases that this call may end. */
  leases: Lease[]
}

type Call = (work: Work) => Promise<unknown>

const claim = (store: Store) => store.claimJobs({ workerId: 'bench', queues: [QUEUE], limit: BATCH })

/** In this order: each round claims what the next call ends. */
const verbs: Record<string, { needsLeases?: true; call: Call }> = {
  enqueue: {
    call: ({ store }) =>
      store.enqueueJobs(Array.from({ length: BATCH }, (_, i) => ({ type: QUEUE, payload: { i } }))),
  },
  claim: { call: ({ store }) => claim(store) },
  heartbeat: { needsLeases: true, call: ({ store, leases }) => store.heartbeatJobs(leases) },
  complete: { needsLeases: true, call: ({ store, leases }) => store.completeJobs(leases) },
  fail: {
    needsLeases: true,
    call: ({ store, leases }) =>
      store.failJobs(leases.map((lease) => ({ ...lease, code: 'BENCH', reason: 'broken' }))),
  },
  'empty claim': {
    call: ({ store }) => store.claimJobs({ workerId: 'bench', queues: [NEVER], limit: BATCH }),
  },
  sweep: { call: ({ store }) => store.sweepJobs() },
  prune: { call: ({ store }) => store.pruneJobs() },
}

const list =
  (filter: Parameters<Store['listJobs']>[0]): Call =>
  ({ store }) =>
    store.listJobs(filter, { limit: 50 })

const reads: Record<string, Call> = {
  health: ({ store }) => store.readHealth(),
  queues: ({ store }) => store.listQueues(),
  objective: ({ store }) => store.readSlo(),
  workers: ({ store }) => store.listWorkers(),
  'stale leases': ({ store }) => store.listStaleJobs(),
  'stuck jobs': ({ store }) => store.previewSweep(),
  'jobs, newest page': list({}),
  'jobs, waiting': list({ status: 'waiting' }),
  'jobs, running': list({ status: 'running' }),
  'jobs, succeeded': list({ status: 'succeeded' }),
  'jobs, dead': list({ status: 'dead' }),
  'jobs, waiting in a queue': list({ status: 'waiting', queue: QUEUE }),
  'jobs of an absent type': list({ type: NEVER }),
  'jobs of an absent owner': list({ owner: NEVER }),
  'jobs of an absent worker': list({ workerId: NEVER }),
  'a job': ({ store, jobId }) => store.getJob(jobId),
  'events of a job': ({ store, jobId }) => store.listEvents(jobId),
  'why a job waits': ({ store, jobId }) => store.readJobFacts(jobId),
  'ids by prefix': ({ store, jobId }) => store.findJobIds(jobId.slice(0, 8)),
  'dead letters by cause': ({ store }) => store.groupDeadJobs(),
  reclaims: ({ store }) => store.listReclaims(),
  sweeps: ({ store }) => store.listSweeps(),
}

export const callNames = [...Object.keys(verbs), ...Object.keys(reads)]
export const pagesOf = (name: string) => `${name} pages`

/** Medians: CPU milliseconds under the name of the call, 8 KiB pages under `pagesOf` it. */
export async function measureCalls(native: NativeStore, times: number): Promise<Values> {
  const { store, query } = native
  const [backend] = await query<{ pid: number }>('select pg_backend_pid() as pid')
  const cpuMs = () => Number(readFileSync(`/proc/${backend?.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  const { jobs } = await store.listJobs({ status: 'waiting' }, { limit: 1 })
  const jobId = jobs[0]?.id ?? ''
  const values: Values = {}
  const measure = async (name: string, needsLeases: boolean, call: Call) => {
    const cpu: number[] = []
    const pages: number[] = []
    // The first call fills the caches of the session.
    for (let time = -1; time < times; time++) {
      const work = { store, jobId, leases: needsLeases ? await claim(store) : [] }
      if (needsLeases && work.leases.length < BATCH) throw new Error('there are too few jobs to claim')
      const touched = await native.pages((explained) => call({ ...work, store: explained }))
      const before = cpuMs()
      const answer = await call(work)
      const usedMs = cpuMs() - before
      if (name === 'claim') await store.completeJobs(answer as Lease[])
      if (name === 'heartbeat') await store.completeJobs(work.leases)
      if (time < 0) continue
      cpu.push(usedMs)
      pages.push(touched)
    }
    values[name] = percentile(cpu, 0.5)
    values[pagesOf(name)] = percentile(pages, 0.5)
  }
  for (const [name, { needsLeases = false, call }] of Object.entries(verbs))
    await measure(name, needsLeases, call)
  for (const [name, call] of Object.entries(reads)) await measure(name, false, call)
  return values
}
