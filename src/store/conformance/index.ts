// The suite that every store passes. Titles start with the requirement or the correctness rule that they check.
import { afterEach, beforeEach, describe } from 'vitest'
import type { StoreCapability } from '../capability.ts'
import { describeBreaker } from './dependencies/breaker.ts'
import { describeHalfOpen } from './dependencies/half-open.ts'
import { describePause } from './dependencies/pause.ts'
import { describeRateLimit } from './dependencies/rate-limit.ts'
import { describeDispatch } from './dispatch.ts'
import type { ConformanceOptions, StoreHarness } from './harness.ts'
import { describeActors } from './lifecycle/actors.ts'
import { describeClaim } from './lifecycle/claim.ts'
import { describeComplete } from './lifecycle/complete.ts'
import { describeEnqueue } from './lifecycle/enqueue.ts'
import { describeEnqueueBatches } from './lifecycle/enqueue-batches.ts'
import { describeFail } from './lifecycle/fail.ts'
import { describeHeartbeat } from './lifecycle/heartbeat.ts'
import { describeHints } from './lifecycle/hints.ts'
import { describeKeepCompleted } from './lifecycle/keep-completed.ts'
import { describeLastChance } from './lifecycle/last-chance.ts'
import { describeRelease } from './lifecycle/release.ts'
import { describeStage } from './lifecycle/stage.ts'
import { describeTotalDeadline } from './lifecycle/total-deadline.ts'
import { describeEnforce, describeModes } from './modes/modes.ts'
import { describeObserved } from './modes/observed.ts'
import { describeCancel } from './operating/cancel.ts'
import { describeDiscard } from './operating/discard.ts'
import { describeOperationEnds } from './operating/operation-ends.ts'
import { describeOperationRuns } from './operating/operation-runs.ts'
import { describeOperationSelection } from './operating/operation-selection.ts'
import { describeRetry } from './operating/retry.ts'
import { describeDeadGroups } from './reading/dead-groups.ts'
import { describeEnds, describeWaits } from './reading/ends.ts'
import { describeHealthAndPolicy } from './reading/health-and-policy.ts'
import { describeJobFacts } from './reading/job-facts.ts'
import { describeListJobs } from './reading/list-jobs.ts'
import { describeSlo } from './reading/slo.ts'
import { describeHolds } from './reaping/holds.ts'
import { describeLegacyRows } from './reaping/legacy-rows.ts'
import { describeMassExpiry } from './reaping/mass-expiry.ts'
import { describeOutages } from './reaping/outages.ts'
import { describePreview } from './reaping/preview.ts'
import { describePrune } from './reaping/prune.ts'
import { describeReapBackoff } from './reaping/reap-backoff.ts'
import { describeRescues } from './reaping/rescues.ts'
import { describeSweep } from './reaping/sweep.ts'
import { describeUnjudgedWaiting, describeWaitingBudget } from './reaping/waiting-budget.ts'
import { describeDedupeRules } from './rules/dedupe-rules.ts'
import { describeExpiry } from './rules/expiry.ts'
import { describeGroupOrder } from './rules/group-order.ts'
import { describeGroups } from './rules/groups.ts'
import { describeHeldBack } from './rules/held-back.ts'
import { describeLimits } from './rules/limits.ts'
import { describeProgress } from './rules/progress.ts'
import { describeReservedPlaces } from './rules/reserved-places.ts'
import { describeRetryRules } from './rules/retry-rules.ts'
import { describeSchedule } from './schedule.ts'
import { describeWebhooks } from './webhooks.ts'
import { describeWorkers } from './workers.ts'

export type { ConformanceOptions, StoreHarness } from './harness.ts'

/** Set for the smoke of a suite: leases are kept, ended and, once expired, rescued. The rest is left to the whole. */
const isSmoke = process.env['UNSTUCK_TEST_SMOKE'] === '1'

/** `open` returns a fresh, empty store for each test. */
export function describeJobStore<Tx = never>(
  name: string,
  open: () => Promise<StoreHarness<Tx>>,
  options: ConformanceOptions = {},
): void {
  describe(`${name} store`, () => {
    let harness: StoreHarness<Tx> | undefined
    beforeEach(async () => {
      harness = await open()
    })
    afterEach(async () => {
      await harness?.close()
      harness = undefined
    })
    const opened = () => {
      if (harness === undefined) throw new Error('no store is open')
      return harness
    }

    if (isSmoke) {
      describeHeartbeat(opened)
      describeComplete(opened)
      describeSweep(opened)
      return
    }
    describeLifecyclePort(opened, options)
    describeReapingPort(opened, options)
    describeReadingPort(opened, options)
    describeOperatingPort(opened)
    describeDependencyPort(opened, options)
    describeSchedule(opened)
    describeWorkers(opened)
    describeIfCapable(options, 'notify', () => {
      describeHints(opened)
      describeWaits(opened)
    })
    describeModes(opened)
    describeIfCapable(options, 'enforce', () => describeEnforce(opened))
    describeObserved(opened, options)
    describeIfCapable(options, 'dispatch', () => describeDispatch(opened))
    describeIfCapable(options, 'operations', () => {
      describeOperationSelection(opened)
      describeOperationRuns(opened, options)
      describeOperationEnds(opened)
    })
    describeIfCapable(options, 'webhooks', () => describeWebhooks(opened))
  })
}

/** Skipped by name, so that nothing counts as passed that did not run. */
function describeIfCapable(
  { lacks }: ConformanceOptions,
  capability: StoreCapability,
  describePart: () => void,
): void {
  const isLacking = lacks?.includes(capability) === true
  describe.skipIf(isLacking)(`${capability}${isLacking ? ': this store has none' : ''}`, () => {
    describePart()
  })
}

type Open<Tx> = () => StoreHarness<Tx>

function describeLifecyclePort<Tx>(opened: Open<Tx>, options: ConformanceOptions): void {
  describeEnqueue(opened, options)
  describeEnqueueBatches(opened)
  describeClaim(opened, options)
  describeHeartbeat(opened)
  describeStage(opened)
  describeTotalDeadline(opened)
  describeComplete(opened)
  describeIfCapable(options, 'deletion', () => describeKeepCompleted(opened, options))
  describeFail(opened)
  describeRelease(opened)
  describeLastChance(opened, options)
  describeActors(opened)
  describeRetryRules(opened)
  describeExpiry(opened)
  describeProgress(opened)
  describeIfCapable(options, 'dedupe-rules', () => describeDedupeRules(opened))
  describeIfCapable(options, 'groups', () => {
    describeLimits(opened)
    describeGroups(opened, options)
    describeGroupOrder(opened)
    describeHeldBack(opened)
    describeReservedPlaces(opened, options)
  })
}

function describeReapingPort<Tx>(opened: Open<Tx>, options: ConformanceOptions): void {
  describeSweep(opened, options)
  if (options.isTeams === true) describeUnjudgedWaiting(opened)
  else describeWaitingBudget(opened, options)
  describeReapBackoff(opened)
  describePreview(opened)
  describeLegacyRows(opened, options)
  describeHolds(opened)
  describeMassExpiry(opened)
  describeOutages(opened)
  describePrune(opened)
  describeRescues(opened)
}

function describeReadingPort<Tx>(opened: Open<Tx>, options: ConformanceOptions): void {
  describeHealthAndPolicy(opened, options)
  describeListJobs(opened, options)
  describeDeadGroups(opened)
  describeJobFacts(opened)
  describeSlo(opened)
  describeEnds(opened)
}

function describeOperatingPort<Tx>(opened: Open<Tx>): void {
  describeCancel(opened)
  describeRetry(opened)
  describeDiscard(opened)
}

function describeDependencyPort<Tx>(opened: Open<Tx>, options: ConformanceOptions): void {
  describeBreaker(opened)
  describeHalfOpen(opened, options)
  describePause(opened)
  if (options.leavesOutShared !== true) describeRateLimit(opened)
}
