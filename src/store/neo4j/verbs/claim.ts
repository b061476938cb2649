// Neo4j has no SKIP LOCKED: claimers of one bucket wait for each other instead of for each other's jobs. The first try
// follows the order of the queue; after a collision, this store keeps to a bucket of its own for a while.
import type { Job } from '../../../job/job.ts'
import type { ClaimedJob } from '../../../job/lease.ts'
import { isLastChance } from '../../../policy/retry/budget.ts'
import type { ClaimOneRequest, ClaimRequest } from '../../job-store.ts'
import { isAdmitting } from '../../memory/lifecycle/admit-job.ts'
import { claimJobs as claimMany, claimJob as claimOne } from '../../memory/lifecycle/claim.ts'
import { countsOf, type MemoryState } from '../../memory/state/memory-state.ts'
import { policyOf } from '../../memory/state/policy-of.ts'
import type { Run } from '../graph/graph.ts'
import { BUCKETS } from '../state/job-node.ts'
import { type PartContext, readPart } from '../state/state-part.ts'
import { endUnreadable, reportUnreadable, type UnreadableJob } from '../state/unreadable.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { writePart } from '../state/write-part.ts'
import { lockDueJobs } from './due-jobs.ts'

const controls = ['pauses', 'breakers', 'dependencies', 'keptWorkers'] as const
const running = [['list_running']] as const
const APART_MS = 1_000
const MAX_PASSES = 100

/** One round of a claim. */
interface Pass {
  claimed: ClaimedJob[]
  /** Taken by other claimers first. */
  lost: number
  /** The page was full: there may be more. */
  isFull: boolean
  /** Left to an idle worker and excluded from the next round, as are queues that admit nothing. */
  passed: string[]
  closedQueues: string[]
  /** Set aside instead of claimed. */
  unreadable: UnreadableJob[]
}

const emptyPass: Pass = {
  claimed: [],
  lost: 0,
  isFull: false,
  passed: [],
  closedQueues: [],
  unreadable: [],
}

export function createClaims(runner: VerbRunner) {
  const home = Math.floor(Math.random() * BUCKETS)
  let apartUntilMs = 0

  return {
    async claimJobs(request: ClaimRequest): Promise<ClaimedJob[]> {
      const claimed: ClaimedJob[] = []
      const passed: string[] = []
      let queues = [...new Set(request.queues)].toSorted()
      let bucket = performance.now() < apartUntilMs ? home : null
      for (let round = 0; round < MAX_PASSES; round++) {
        const rest = { ...request, queues, limit: request.limit - claimed.length }
        const pass = await claimPass(runner, rest, passed, bucket)
        claimed.push(...pass.claimed)
        reportUnreadable(runner.context, pass.unreadable)
        passed.push(...pass.passed)
        queues = queues.filter((queue) => !pass.closedQueues.includes(queue))
        if (pass.lost > 0) apartUntilMs = performance.now() + APART_MS
        const isOver = bucket === null && pass.lost === 0 && !pass.isFull
        if (claimed.length >= request.limit || queues.length === 0 || isOver) break
        bucket = bucket === null && pass.lost > 0 ? (home + round) % BUCKETS : null
      }
      return claimed
    },

    async claimJob(jobId: string, request: ClaimOneRequest): Promise<ClaimedJob | 'not-claimable'> {
      const part = async (run: Run) => {
        const { state } = await readPart(run, runner.context, { kinds: ['keptWorkers'] })
        const kept = state.keptWorkers.get(request.workerId)?.jobId
        return { jobIds: kept === undefined ? [jobId] : [jobId, kept], kinds: controls, find: running }
      }
      const { claimed, unreadable } = await runner.change(part, (state) => ({
        unreadable: endUnreadable(state, state.jobs.values()),
        claimed: claimOne(state, jobId, request),
      }))
      reportUnreadable(runner.context, unreadable)
      return claimed
    },
  }
}

function claimPass(
  { graph, context }: VerbRunner,
  request: ClaimRequest,
  passed: string[],
  bucket: number | null,
): Promise<Pass> {
  return graph.write(async (run) => {
    const before = await readPart(run, context, { kinds: controls })
    const kept = before.state.keptWorkers.get(request.workerId)
    // Rejects invalid arguments before anything is locked.
    claimMany(before.state, request)
    if (kept !== undefined) return claimKept(run, context, request, kept.jobId)
    const nowMs = before.state.nowMs()
    const queues = request.queues.filter((queue) => isAdmitting(before.state, queue, nowMs))
    const candidates = await lockDueJobs(run, { ...request, queues, passed, bucket })
    if (candidates.length === 0) return emptyPass
    // Only a last-chance job depends on whether its worker is idle.
    const isOneLast = candidates.some((job) => isLast(before.state, request, job))
    const find = isOneLast ? running : []
    const part = await readPart(run, context, { kinds: controls, jobs: candidates, find })
    const unreadable = endUnreadable(part.state, candidates)
    const claimed = claimMany(part.state, { ...request, queues })
    await writePart(run, part)
    const isFull = candidates.length >= request.limit
    return { claimed, unreadable, ...judge(part.state, request, candidates), isFull }
  })
}

/** For a worker reserved for one job. If it no longer is, the next round claims as usual. */
async function claimKept(
  run: Run,
  context: PartContext,
  request: ClaimRequest,
  jobId: string,
): Promise<Pass> {
  const part = await readPart(run, context, { kinds: controls, jobIds: [jobId], find: running })
  const unreadable = endUnreadable(part.state, part.jobs.values())
  const claimed = claimMany(part.state, request)
  await writePart(run, part)
  const isFull = !part.state.keptWorkers.has(request.workerId)
  return { ...emptyPass, claimed, unreadable, isFull }
}

function isLast(state: MemoryState, request: ClaimRequest, job: Job): boolean {
  const policy = policyOf(state.policy, request.policy)
  return isLastChance(policy, countsOf(policy, job))
}

/** Why candidates were neither claimed nor ended for lack of a budget. */
function judge(
  state: MemoryState,
  request: ClaimRequest,
  candidates: Job[],
): Pick<Pass, 'lost' | 'passed' | 'closedQueues'> {
  const left = candidates.filter((job) => state.jobs.get(job.id) === job)
  const waiting = left.filter(({ status }) => status === 'waiting')
  const passed = waiting.filter((job) => isLast(state, request, job))
  return {
    lost: left.length - waiting.length,
    passed: passed.map(({ id }) => id),
    // Due for any worker but not admitted: the breaker has no slot left.
    closedQueues: waiting.filter((job) => !passed.includes(job)).map(({ queue }) => queue),
  }
}
