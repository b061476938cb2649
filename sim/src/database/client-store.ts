import type { ClaimedJob } from '../../../src/job/lease.ts'
import type { ClaimRequest, JobStore } from '../../../src/store/job-store.ts'
import type { MemoryJobStore } from '../../../src/store/memory/memory-store.ts'

export type VerbName = keyof MemoryJobStore

interface Client {
  call(name: VerbName, args: unknown[]): Promise<unknown>
}

/** The verbs of the store over one client's connections. */
export function clientStore(store: MemoryJobStore, call: Client['call']): JobStore {
  verbs ??= verbsOf(store)
  // Part of the answer, which may be lost: the memory store reports it at once.
  const claimJobs = async (request: ClaimRequest) => {
    let heldBack: string[] = []
    const onHeldBack = (queues: string[]) => {
      heldBack = queues
    }
    const jobs = (await call('claimJobs', [Object.assign({}, request, { onHeldBack })])) as ClaimedJob[]
    if (heldBack.length > 0) request.onHeldBack?.(heldBack)
    return jobs
  }
  return Object.assign(Object.create(verbs) as JobStore, { call, claimJobs })
}

/** The prototype of all clients of all runs: V8 compiles for shapes, and a prototype for each run would be a shape for each. */
let verbs: object | undefined

function verbsOf(store: JobStore): object {
  const all: Record<string, unknown> = { lacks: store.lacks }
  for (const [name, verb] of Object.entries(store) as [VerbName, unknown][])
    if (typeof verb === 'function')
      all[name] = function (this: Client, ...args: unknown[]) {
        return this.call(name, args)
      }
  return all
}
