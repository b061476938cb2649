import type { Job } from '../../job/job.ts'
import type { Policy } from '../../policy/policy.ts'
import { backoffMs } from '../../policy/retry/backoff.ts'
import type { DispatchStore, TakeDispatchesRequest, TakenDispatch } from '../ports/dispatch-store.ts'
import { checkWhole, requireActing } from './state/checks.ts'
import { dueMs, type MemoryDispatch, type MemoryState } from './state/memory-state.ts'

const YEAR_MS = 31_536_000_000
const retryBackoff = { stepsMs: [], baseMs: 1_000, maxMs: 300_000, jitterMs: 0 }

export function bindDispatchVerbs(state: MemoryState): DispatchStore {
  return {
    takeDispatches: async (request = {}) => takeDispatches(state, request),
    finishDispatches: async (taken) => {
      const known = taken.filter(({ jobId, dispatchId }) => find(state, jobId, dispatchId) !== undefined)
      for (const { jobId } of known) state.dispatches.delete(jobId)
      return known.length
    },
    failDispatches: async (taken) => taken.filter((one) => putOff(state, one)).length,
    countDispatches: async () => state.dispatches.size,
  }
}

/** Records a dispatch for a job that waits again, if the policy dispatches. */
export function recordDispatch(state: MemoryState, policy: Policy, jobId: string): void {
  if (policy.dispatch === 'off') return
  state.dispatches.set(jobId, { dispatchId: state.createUuid(), tries: 0, nextTryAtMs: state.nowMs() })
}

function takeDispatches(state: MemoryState, { limit, leaseMs }: TakeDispatchesRequest): TakenDispatch[] {
  checkWhole(limit, 'limit', 1, 1_000)
  checkWhole(leaseMs, 'leaseMs', 1, YEAR_MS)
  requireActing(state)
  const nowMs = state.nowMs()
  const due = [...state.dispatches].filter(([, { nextTryAtMs }]) => nextTryAtMs <= nowMs)
  for (const [jobId] of due) if (!isWaiting(state.jobs.get(jobId))) state.dispatches.delete(jobId)
  return due
    .filter(([jobId]) => state.dispatches.has(jobId))
    .toSorted(([, a], [, b]) => a.nextTryAtMs - b.nextTryAtMs)
    .slice(0, limit ?? 100)
    .flatMap(([jobId, dispatch]) => take(state, jobId, dispatch, nowMs + (leaseMs ?? 30_000)))
    .toSorted((a, b) => a.runInMs - b.runInMs)
}

function take(state: MemoryState, jobId: string, dispatch: MemoryDispatch, untilMs: number): TakenDispatch[] {
  const job = state.jobs.get(jobId)
  if (job === undefined) return []
  const taken = { ...dispatch, tries: dispatch.tries + 1, nextTryAtMs: untilMs }
  state.dispatches.set(jobId, taken)
  const { type, queue, attempt } = job
  const runInMs = Math.max(0, dueMs(job) - state.nowMs())
  return [{ dispatchId: taken.dispatchId, jobId, type, queue, runInMs, attempt, tries: taken.tries }]
}

function putOff(state: MemoryState, { jobId, dispatchId, tries }: TakenDispatch): boolean {
  const known = find(state, jobId, dispatchId)
  if (known?.tries !== tries) return false
  const nextTryAtMs = state.nowMs() + backoffMs(retryBackoff, tries, 0)
  state.dispatches.set(jobId, { ...known, nextTryAtMs })
  return true
}

function find(state: MemoryState, jobId: string, dispatchId: string): MemoryDispatch | undefined {
  const known = state.dispatches.get(jobId)
  return known?.dispatchId === dispatchId ? known : undefined
}

function isWaiting(job: Job | undefined): boolean {
  return job?.status === 'waiting'
}
