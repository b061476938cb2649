// Judges a run by the invariants of chaos, without excuses for a busy machine: there is none. Adds what only a simulation can say.
import { checkHistory } from '../../../chaos/src/judge/check-history.ts'
import type { EventRow, History, Violation } from '../../../chaos/src/judge/history.ts'
import type { Job } from '../../../src/job/job.ts'
import type { Simulation } from '../world/simulation.ts'
import { Circumstances } from './circumstances.ts'
import { checkClaimedAhead } from './claims/claimed-ahead.ts'
import { checkFreedSlots } from './claims/freed-slots.ts'
import { checkPickups } from './claims/pickups.ts'
import { checkAttemptClocks } from './leases/attempt-clocks.ts'
import { checkDeadWorkers } from './leases/dead-workers.ts'
import { checkFencing } from './leases/fencing.ts'
import { checkGivenUp } from './leases/given-up.ts'
import { checkRenewals } from './leases/renewals.ts'
import { checkLeaving } from './leaving/leaving.ts'
import { inWorldTime } from './world-times.ts'

/** At most this many claims for each job of a run in which nothing goes wrong, */
const CLAIMS_PER_JOB = 1.02
/** and these: a worker that has seen few jobs may once claim too far ahead (three given back of 100 in seed 7818). */
const GIVEN_BACK_ONCE = 3

type Rule = (simulation: Simulation, history: History, circumstances: Circumstances) => Iterable<Violation>

/** They compare times of the server with those of workers, or judge jobs that are due: a step of the server's clock undoes both. */
const rulesOfSteadyClocks: readonly Rule[] = [
  checkPickups,
  checkFreedSlots,
  checkAttemptClocks,
  checkFencing,
  checkRenewals,
  checkDeadWorkers,
]
const rules: readonly Rule[] = [checkClaimedAhead, checkLeaving]

export function judge(simulation: Simulation): Violation[] {
  const history = historyOf(simulation)
  simulation.gates.check(simulation, history)
  const { violations } = checkHistory(history)
  const circumstances = new Circumstances(simulation, history)
  return [
    ...simulation.evidence.violations,
    ...violations.filter((violation) => !isOfRetried(simulation, violation)),
    ...simulation.departures.check(history.events),
    ...checkGivenUp(simulation, history.events),
    ...checkCalm(simulation, history),
    ...checkNeighbours(simulation, history),
    ...(simulation.database.clock.hasStepped ? rules : [...rules, ...rulesOfSteadyClocks]).flatMap(
      (check) => [...check(simulation, history, circumstances)],
    ),
  ]
}

/** The counts of a job start anew with each generation; the story of a job counts over all of them. */
const COUNTS = new Set(['I9', 'I12', 'I20'])

function isOfRetried({ evidence }: Simulation, { invariant, message }: Violation): boolean {
  return COUNTS.has(invariant) && [...evidence.retriedIds].some((jobId) => message.includes(jobId))
}

function historyOf(simulation: Simulation): History {
  const { plan, database, evidence, transactions } = simulation
  const { policy, pollMs } = plan.settings
  const events = database.events().map(
    ({ id, jobId, type, at, data }): EventRow => ({
      id,
      jobId,
      type,
      at: at.getTime(),
      // The event of a claim does not name its lease.
      details:
        type === 'processing'
          ? { lease_id: evidence.leaseOf(jobId, data.details['fence']), ...data.details }
          : data.details,
    }),
  )
  return {
    policy,
    times: { leaseMs: policy.defaultLeaseMs, sweepMs: policy.sweepIntervalMs, pollMs: pollMs[1] },
    limits: plan.limits,
    jobs: database.rows().map((job) => rowOf(job, policy.maxAttempts)),
    events: inWorldTime(
      events.toSorted((a, b) => Number(a.id) - Number(b.id)),
      database.clock,
    ),
    // A failover undoes an effect together with the completion.
    txEffects: transactions.effects.filter(({ at }) => !evidence.isUndone(at)),
    deliveries: [],
    webhooks: [],
    ledger: evidence.keptLedger(),
    samples: evidence.samples,
    disturbances: evidence.disturbances,
    stalls: [],
    delays: database.network.delays,
    holds: evidence.holds,
    enqueuedIds: evidence.keptIds(),
    intrusions: [],
  }
}

function rowOf(job: Job, maxAttempts: number) {
  const { id, type, queue, group, owner, status, attempt, failures, crashes, timeouts, fence } = job
  const { workerId, leaseId, leaseExpiresAt, finishedLeaseId } = job
  return {
    id,
    type,
    queue,
    group,
    owner,
    status,
    attempt,
    failures,
    crashes,
    timeouts,
    fence,
    workerId,
    leaseId,
    finishedLeaseId,
    maxAttempts: job.maxAttempts ?? maxAttempts,
    leaseExpiresAt: leaseExpiresAt?.toISOString() ?? null,
  }
}

function* checkCalm({ plan }: Simulation, { jobs, events }: History): Iterable<Violation> {
  if (plan.settings.flavour !== 'calm') return
  // A job that a limit or a breaker refuses is claimed again.
  const isGated = plan.rates !== undefined || plan.breaker !== undefined
  const claims = events.filter(({ type }) => type === 'processing').length
  if (!isGated && claims > CLAIMS_PER_JOB * jobs.length + GIVEN_BACK_ONCE)
    yield { invariant: 'claims', message: `${claims} claims for ${jobs.length} jobs, and nothing went wrong` }
  for (const { jobId, type } of events)
    if (type.startsWith('reaper:'))
      yield { invariant: 'calm', message: `job ${jobId}: ${type}, and nothing went wrong` }
}

/** A job that kills its process ends by its own budget, and no other job does by it. */
function* checkNeighbours({ plan }: Simulation, { jobs }: History): Iterable<Violation> {
  if (plan.settings.flavour !== 'poison') return
  for (const { id, type, status, crashes } of jobs) {
    if (type === 'killer' && status !== 'dead')
      yield { invariant: 'neighbour', message: `job ${id} kills its process and is ${status}` }
    if (type !== 'killer' && status !== 'succeeded')
      yield {
        invariant: 'neighbour',
        message: `job ${id} (${type}) is ${status} after ${crashes} crashes, beside jobs that kill their process`,
      }
  }
}
