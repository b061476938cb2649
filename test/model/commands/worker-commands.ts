// Commands of workers and producers. Finishing verbs take any lease ever granted: most are stale.
import fc from 'fast-check'
import { isUnstuckError } from '../../../src/errors/index.ts'
import type { ErrorCategory, JsonValue, NewJob } from '../../../src/job/job.ts'
import type { ClaimedJob, Lease } from '../../../src/job/lease.ts'
import type {
  ClaimOneRequest,
  ClaimRequest,
  EnqueuedJob,
  Failure,
  JobStore,
  ReleaseOptions,
} from '../../../src/store/job-store.ts'
import { HOUR, stepsOf, stepsUntil } from '../timing.ts'
import { agree, type Model, nameOfJob, nameOfLease, type Pair, type Side } from '../two-sides.ts'
import { command, type LeaseCommand } from './command.ts'
import { present, rarely } from './optional-fields.ts'
import { jobIdsAt, leasePicks, leasesAt, pickIndexes, pickLeases, picks } from './picks.ts'

export const queues = ['encode', 'caption', 'fast']
const hours = (...counts: number[]) => fc.constantFrom(...counts.map((count) => count * HOUR))

const newJob: fc.Arbitrary<NewJob> = present({
  type: fc.constantFrom('encode', 'caption'),
  queue: rarely(fc.constant('fast')),
  priority: rarely(fc.integer({ min: -1, max: 1 })),
  delayMs: rarely(hours(1, 2)),
  stage: rarely(fc.constant('upload')),
  expectedDurationMs: rarely(hours(1, 2)),
  maxAttempts: rarely(fc.integer({ min: 1, max: 3 })),
  owner: rarely(fc.constantFrom('alice', 'bob')),
  dedupeKey: rarely(fc.constantFrom('a', 'b')),
  payload: rarely(fc.constant<JsonValue>({ clip: 1 })),
})

export const newJobs = fc.array(newJob, { minLength: 1, maxLength: 3, size: 'max' })

export const add = newJobs.map(additionOf)

export function additionOf(jobs: NewJob[]): LeaseCommand {
  return command({
    name: 'add',
    wish: jobs,
    act: async (pair) => {
      await agree(pair, `add ${JSON.stringify(jobs)}`, async (side) => {
        return namesOfAdded(side, await side.store.enqueueJobs(jobs))
      })
    },
  })
}

export function namesOfAdded(side: Side, answers: EnqueuedJob[]) {
  for (const { jobId, outcome } of answers) if (outcome === 'created') side.jobIds.push(jobId)
  return answers.map(({ jobId, outcome }) => ({ job: nameOfJob(side, jobId), outcome }))
}

const claimOne: fc.Arbitrary<ClaimOneRequest> = present({
  workerId: fc.constantFrom('w1', 'w2', 'w3'),
  leaseMs: rarely(hours(1, 2, 4)),
})

export const claimMany: fc.Arbitrary<ClaimRequest> = present({
  workerId: fc.constantFrom('w1', 'w2', 'w3'),
  leaseMs: rarely(hours(1, 2, 4)),
  queues: fc.oneof(
    { arbitrary: fc.constant(queues), weight: 2 },
    { arbitrary: fc.subarray(queues, { minLength: 1 }), weight: 1 },
  ),
  limit: fc.integer({ min: 1, max: 4 }),
  types: rarely(fc.constant<string[]>(['encode'])),
})

const claim = claimMany.map((request) =>
  command({
    name: 'claim',
    wish: request,
    act: async (pair) => {
      await claimOf(pair, request)
    },
  }),
)

async function claimOf(pair: Pair, request: ClaimRequest) {
  const ask = async (side: Side) => grantedTo(side, await side.store.claimJobs(request))
  return agree(pair, `claim ${JSON.stringify(request)}`, ask, describeGrant)
}

/** In whatever order: queues with groups come before or after the others. */
export async function claimAllThatFit(pair: Pair, workerId: string) {
  const ask = async (side: Side) =>
    grantedTo(side, await side.store.claimJobs({ workerId, queues, limit: 1_000 })).granted
  return agree(pair, `claim of all that fit by ${workerId}`, ask, describeJobs)
}

/**
 * Claims until nothing is left. A last chance takes the whole of an idle worker, so each claim has a new one; a worker
 * that was only reserved for it gets it with its second claim.
 */
export async function claimAll(pair: Pair): Promise<void> {
  for (let worker = 1; ; worker += 1) {
    const workerId = `idle ${worker}`
    const granted = await claimAllThatFit(pair, workerId)
    if (granted.length === 0 && (await claimAllThatFit(pair, workerId)).length === 0) return
  }
}

const claimById = fc.tuple(claimOne, picks).map(([request, numbers]) =>
  command({
    name: 'claimById',
    wish: { ...request, pick: numbers[0] },
    needs: 'jobIds',
    act: async (pair) => {
      const indexes = pickIndexes(numbers.slice(0, 1), pair.model.jobIds.length)
      await agree(
        pair,
        `claim job ${indexes.join()} ${JSON.stringify(request)}`,
        async (side) => {
          const answer = await side.store.claimJob(jobIdsAt(side, indexes).join(), request)
          return grantedTo(side, answer === 'not-claimable' ? [] : [answer])
        },
        describeGrant,
      )
    },
  }),
)

/** Notes the leases by job, whatever the order of the answer: within one priority queues may come one after another. */
export function grantedTo(side: Side, answers: ClaimedJob[]) {
  const inOrder = answers.toSorted((a, b) => side.jobIds.indexOf(a.jobId) - side.jobIds.indexOf(b.jobId))
  side.leases.push(...inOrder.map(({ jobId, leaseId }) => ({ jobId, leaseId })))
  return {
    priorities: answers.map(({ priority }) => priority),
    granted: inOrder.map(({ jobId, leaseId, ...rest }) => ({
      job: nameOfJob(side, jobId),
      lease: nameOfLease(side, jobId, leaseId),
      ...rest,
      // Two clocks; the row shows both times, and is compared with the model's next.
      createdAt: null,
      startedAt: null,
      waitedMs: null,
    })),
  }
}

const describeGrant = ({ granted }: ReturnType<typeof grantedTo>) => describeJobs(granted)

function describeJobs(granted: ReturnType<typeof grantedTo>['granted']): string {
  return granted.map(({ job, lease }) => `${lease} of ${job}`).join(', ')
}

const heartbeat = fc.tuple(leasePicks, rarely(hours(1, 2))).map(([wish, leaseMs]) =>
  command({
    name: 'heartbeat',
    wish: { ...wish, leaseMs },
    needs: 'leases',
    act: async (pair) => {
      const indexes = pickLeases(pair.model, wish)
      await agree(pair, `heartbeat of leases ${indexes.join()} ${leaseMs ?? ''}`, async (side) => {
        const options = leaseMs === undefined ? {} : { leaseMs }
        const report = await side.store.heartbeatJobs(leasesAt(side, indexes), options)
        return {
          answers: report.answers.map(({ answer }) => answer),
          reaperAge: stepsOf(report.reaperAgeMs),
        }
      })
    },
  }),
)

const enterStage = fc.tuple(picks, fc.constantFrom('upload', 'encode', 'review')).map(([numbers, stage]) =>
  command({
    name: 'enterStage',
    wish: { pick: numbers[0], stage },
    needs: 'leases',
    act: async (pair) => {
      const indexes = pickIndexes(numbers.slice(0, 1), pair.model.leases.length)
      await agree(pair, `stage ${stage} by ${namesOf(pair.model, indexes)}`, (side) =>
        Promise.all(leasesAt(side, indexes).map((lease) => enterBySteps(side.store, lease, stage))),
      )
    },
  }),
)

/** The time left until the total deadline depends on the clock, and only PostgreSQL's moves by itself. */
async function enterBySteps(store: JobStore, lease: Lease, stage: string): Promise<unknown> {
  const { outcome, leaseMs, deadlineMs } = await store.enterStage(lease, stage)
  const steps = (ms: number | null) => (ms === null ? null : stepsUntil(ms, 0))
  return { outcome, leaseSteps: steps(leaseMs), deadlineSteps: steps(deadlineMs) }
}

const reportProgress = fc.tuple(leasePicks, fc.constantFrom(0, 0.25, 1)).map(([wish, value]) =>
  command({
    name: 'reportProgress',
    wish: { ...wish, value },
    needs: 'leases',
    act: async (pair) => {
      const indexes = pickLeases(pair.model, wish)
      await agree(pair, `progress ${value} by ${namesOf(pair.model, indexes)}`, (side) =>
        side.store.reportProgress(
          leasesAt(side, indexes).map((lease, n) => ({
            ...lease,
            value,
            text: n === 0 ? null : `step ${n}`,
          })),
        ),
      )
    },
  }),
)

const lateResult = picks.map((numbers) =>
  command({
    name: 'lateResult',
    wish: numbers[0],
    needs: 'leases',
    act: async (pair) => {
      const indexes = pickIndexes(numbers.slice(0, 1), pair.model.leases.length)
      await agree(pair, `late result of ${namesOf(pair.model, indexes)}`, (side) =>
        Promise.all(
          leasesAt(side, indexes).map((lease) => side.store.recordLateResult(lease, { frames: 3 })),
        ),
      )
    },
  }),
)

const complete = fc
  .tuple(leasePicks, fc.constantFrom<JsonValue>(null, 'done', { frames: 3 }))
  .map(([wish, result]) =>
    command({
      name: 'complete',
      wish: { ...wish, result },
      needs: 'leases',
      act: (pair) =>
        settle(pair, 'complete', pickLeases(pair.model, wish), (side, leases) =>
          side.store.completeJobs(leases.map((lease) => ({ ...lease, result }))),
        ),
    }),
  )

/** A team's own table refuses it. */
const completeAndDelete = leasePicks.map((wish) =>
  command({
    name: 'complete and delete',
    wish,
    needs: 'leases',
    act: (pair) =>
      settle(pair, 'complete and delete', pickLeases(pair.model, wish), (side, leases) =>
        side.store.completeJobs(leases, { policy: { keepCompleted: false } }).catch((error: unknown) => {
          if (isUnstuckError(error, 'INVALID_ARGUMENT')) return []
          throw error
        }),
      ),
  }),
)

const failure: fc.Arbitrary<Omit<Failure, 'jobId' | 'leaseId'>> = present({
  code: rarely(fc.constantFrom('GW_5XX', 'IO_ERROR')),
  reason: rarely(fc.constant('no answer')),
  category: rarely(fc.constantFrom<ErrorCategory>('TRANSIENT', 'PERMANENT', 'CRITICAL')),
  stack: rarely(fc.constant('at encode.ts:1')),
  isRetryable: rarely(fc.boolean()),
  retryInMs: rarely(hours(0, 1, 2)),
  cause: rarely(fc.constantFrom<'failure' | 'timeout'>('failure', 'timeout')),
})

const fail = fc.tuple(leasePicks, failure).map(([wish, details]) =>
  command({
    name: 'fail',
    wish: { ...wish, ...details },
    needs: 'leases',
    act: (pair) =>
      settle(pair, `fail ${JSON.stringify(details)}`, pickLeases(pair.model, wish), (side, leases) =>
        side.store.failJobs(leases.map((lease) => ({ ...lease, ...details }))),
      ),
  }),
)

const releaseOptions: fc.Arbitrary<ReleaseOptions<never>> = present({
  delayMs: rarely(hours(0, 1, 2)),
  cause: rarely(fc.constantFrom<'release' | 'interruption'>('release', 'interruption')),
})

const release = fc.tuple(leasePicks, releaseOptions).map(([wish, options]) =>
  command({
    name: 'release',
    wish: { ...wish, ...options },
    needs: 'leases',
    act: (pair) =>
      settle(pair, `release ${JSON.stringify(options)}`, pickLeases(pair.model, wish), (side, leases) =>
        side.store.releaseJobs(leases, options),
      ),
  }),
)

interface Answer {
  jobId: string
  outcome: string
  retryInMs?: number | null
}

async function settle(
  pair: Pair,
  what: string,
  indexes: number[],
  ask: (side: Side, leases: { jobId: string; leaseId: string }[]) => Promise<Answer[]>,
): Promise<void> {
  await agree(pair, `${what} by ${namesOf(pair.model, indexes)}`, async (side) => {
    const answers = await ask(side, leasesAt(side, indexes))
    return answers.map(({ jobId, ...answer }) => ({ job: nameOfJob(side, jobId), ...answer }))
  })
}

function namesOf(model: Model, indexes: number[]): string {
  return leasesAt(model, indexes)
    .map(({ jobId }, nth) => `lease ${indexes[nth]} of ${nameOfJob(model, jobId)}`)
    .join(', ')
}

/** With their weights. */
export const leaseCommands: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[] = [
  { arbitrary: claimById, weight: 2 },
  { arbitrary: heartbeat, weight: 5 },
  { arbitrary: enterStage, weight: 3 },
  { arbitrary: reportProgress, weight: 2 },
  { arbitrary: lateResult, weight: 1 },
  { arbitrary: complete, weight: 4 },
  { arbitrary: completeAndDelete, weight: 1 },
  { arbitrary: fail, weight: 5 },
  { arbitrary: release, weight: 4 },
]

export const workerCommands = [
  { arbitrary: add, weight: 6 },
  { arbitrary: claim, weight: 12 },
  ...leaseCommands,
]
