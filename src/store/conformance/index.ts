// The one suite that every store passes. Titles start with the requirement, or the rule of correctness, that they hold.
import { afterEach, beforeEach, describe } from 'vitest'
import type { StoreCapability } from '../capability.ts'
import { describeActors } from './actors.ts'
import { describeBrakes } from './brakes.ts'
import { describeBreaker } from './breaker.ts'
import { describeCancel } from './cancel.ts'
import { describeClaim } from './claim.ts'
import { describeComplete } from './complete.ts'
import { describeDeadGroups } from './dead-groups.ts'
import { describeDiscard } from './discard.ts'
import { describeDispatch } from './dispatch.ts'
import { describeEnqueue } from './enqueue.ts'
import { describeEnqueueBatches } from './enqueue-batches.ts'
import { describeFail } from './fail.ts'
import { describeHalfOpen } from './half-open.ts'
import type { ConformanceOptions, StoreHarness } from './harness.ts'
import { describeHealthAndPolicy } from './health-and-policy.ts'
import { describeHeartbeat } from './heartbeat.ts'
import { describeJobFacts } from './job-facts.ts'
import { describeLastChance } from './last-chance.ts'
import { describeLegacyRows } from './legacy-rows.ts'
import { describeListJobs } from './list-jobs.ts'
import { describeMassExpiry } from './mass-expiry.ts'
import { describeModes } from './modes.ts'
import { describeObserved } from './observed.ts'
import { describeOperations } from './operations.ts'
import { describeOutages } from './outages.ts'
import { describePause } from './pause.ts'
import { describePreview } from './preview.ts'
import { describePrune } from './prune.ts'
import { describeRateLimit } from './rate-limit.ts'
import { describeReapBackoff } from './reap-backoff.ts'
import { describeRelease } from './release.ts'
import { describeRescues } from './rescues.ts'
import { describeRetry } from './retry.ts'
import { describeSchedule } from './schedule.ts'
import { describeSlo } from './slo.ts'
import { describeStage } from './stage.ts'
import { describeSweep } from './sweep.ts'
import { describeTotalDeadline } from './total-deadline.ts'
import { describeUnjudgedWaiting, describeWaitingBudget } from './waiting-budget.ts'
import { describeWebhooks } from './webhooks.ts'
import { describeWorkers } from './workers.ts'

export type { ConformanceOptions, StoreHarness } from './harness.ts'

/** `open` gives a fresh, empty store to each test. */
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

    const whereAble = (capability: StoreCapability, describePart: () => void) => {
      const isLacking = options.lacks?.includes(capability) === true
      // Skipped by name, so that nothing counts as passed that did not run.
      describe.skipIf(isLacking)(`${capability}${isLacking ? ': this store has none' : ''}`, () => {
        describePart()
      })
    }

    describeEnqueue(opened, options)
    describeEnqueueBatches(opened)
    describeClaim(opened)
    describeHeartbeat(opened)
    describeStage(opened)
    describeTotalDeadline(opened)
    describeComplete(opened)
    describeFail(opened)
    describeRelease(opened)
    describeCancel(opened)
    describeRetry(opened)
    describeSweep(opened)
    if (options.isTeams === true) describeUnjudgedWaiting(opened)
    else describeWaitingBudget(opened)
    describeReapBackoff(opened)
    describeLastChance(opened)
    describePreview(opened)
    describeLegacyRows(opened, options)
    describeBrakes(opened)
    describeMassExpiry(opened)
    describeOutages(opened)
    whereAble('modes', () => {
      describeModes(opened)
      describeObserved(opened)
    })
    describePrune(opened)
    describeHealthAndPolicy(opened, options)
    describeBreaker(opened)
    describeHalfOpen(opened)
    describePause(opened)
    if (options.leavesOutShared !== true) describeRateLimit(opened)
    describeListJobs(opened, options)
    describeDeadGroups(opened)
    whereAble('operations', () => describeOperations(opened))
    describeJobFacts(opened)
    describeDiscard(opened)
    whereAble('dispatch', () => describeDispatch(opened))
    describeSchedule(opened)
    describeWorkers(opened)
    describeSlo(opened)
    describeRescues(opened)
    describeActors(opened)
    whereAble('webhooks', () => describeWebhooks(opened))
  })
}
