// The claim. Neo4j has no SKIP LOCKED: claimers of one bucket wait for each other instead of for each other's jobs. The
// first try goes by the order of the queue alone; where it meets others, this store keeps to a bucket of its own for a while.
import type { Job } from '../../job/job.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { ClaimOneRequest, ClaimRequest } from '../job-store.ts'
import { isAdmitting } from '../memory/admit-job.ts'
import { claimJobs as claimMany, claimJob as claimOne } from '../memory/claim.ts'
import type { MemoryState } from '../memory/memory-state.ts'
import type { Run } from './graph.ts'
import { BUCKETS, toInteger, toJob } from './job-node.ts'
import { readPart } from './state-part.ts'
import type { VerbRunner } from './verb-runner.ts'
import { writePart } from './write-part.ts'

const brakes = ['pauses', 'breakers', 'dependencies'] as const
const APART_MS = 1_000
const MAX_PASSES = 100

/** One round of a claim. */
interface Pass {
  claimed: ClaimedJob[]
  /** Others had them first. */
  lost: number
  /** A full page: there may be more. */
  isFull: boolean
  /** They admit nothing: left out of the next round. */
  closedQueues: string[]
}

export function createClaims(runner: VerbRunner) {
  const home = Math.floor(Math.random() * BUCKETS)
  let apartUntilMs = 0

  return {
    async claimJobs(request: ClaimRequest): Promise<ClaimedJob[]> {
      const claimed: ClaimedJob[] = []
      let queues = [...new Set(request.queues)].toSorted()
      let bucket = performance.now() < apartUntilMs ? home : null
      for (let round = 0; round < MAX_PASSES; round++) {
        const rest = { ...request, queues, limit: request.limit - claimed.length }
        const pass = await claimPass(runner, rest, bucket)
        claimed.push(...pass.claimed)
        queues = queues.filter((queue) => !pass.closedQueues.includes(queue))
        if (pass.lost > 0) apartUntilMs = performance.now() + APART_MS
        const isOver = bucket === null && pass.lost === 0 && !pass.isFull
        if (claimed.length >= request.limit || queues.length === 0 || isOver) break
        bucket = bucket === null && pass.lost > 0 ? (home + round) % BUCKETS : null
      }
      return claimed
    },

    claimJob: (jobId: string, request: ClaimOneRequest): Promise<ClaimedJob | 'not-claimable'> =>
      runner.change({ jobIds: [jobId], kinds: brakes }, (state) => claimOne(state, jobId, request)),
  }
}

function claimPass(
  { graph, context }: VerbRunner,
  request: ClaimRequest,
  bucket: number | null,
): Promise<Pass> {
  return graph.write(async (run) => {
    const before = await readPart(run, context, { kinds: brakes })
    // Refuses wrong arguments before anything is locked.
    claimMany(before.state, request)
    const nowMs = before.state.nowMs()
    const queues = request.queues.filter((queue) => isAdmitting(before.state, queue, nowMs))
    const candidates = await lockDue(run, { ...request, queues }, bucket)
    if (candidates.length === 0) return { claimed: [], lost: 0, isFull: false, closedQueues: [] }
    const part = await readPart(run, context, { kinds: brakes, jobs: candidates })
    const claimed = claimMany(part.state, { ...request, queues })
    await writePart(run, part)
    return { claimed, ...judge(part.state, candidates), isFull: candidates.length >= request.limit }
  })
}

async function lockDue(run: Run, request: ClaimRequest, bucket: number | null): Promise<Job[]> {
  const { queues, limit, types } = request
  if (queues.length === 0) return []
  const asked = { queues, types: types ?? null, limit: toInteger(limit) }
  const buckets =
    bucket === null
      ? (await run('find_due', asked)).map(({ queue, bucket: number }) =>
          bucketPath(String(queue), Number(number)),
        )
      : queues.map((queue) => bucketPath(queue, bucket))
  if (buckets.length === 0) return []
  const rows = await run('lock_due', {
    ...asked,
    buckets: buckets.toSorted(),
    bucket: bucket === null ? null : toInteger(bucket),
  })
  return rows.map((row) => toJob(row['job']))
}

function bucketPath(queue: string, bucket: number): string {
  return `${queue}/${bucket}`
}

/** What became of the candidates that were neither claimed nor ended for want of a budget. */
function judge(state: MemoryState, candidates: Job[]): Pick<Pass, 'lost' | 'closedQueues'> {
  const left = candidates.filter((job) => state.jobs.get(job.id) === job)
  const waiting = left.filter(({ status }) => status === 'waiting')
  // Due and not admitted: the breaker has no slot left.
  return { lost: left.length - waiting.length, closedQueues: waiting.map(({ queue }) => queue) }
}
