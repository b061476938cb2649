// Commands of a user inside an open transaction, and of others before it ends: claims and sweeps skip its rows. The model
// has no transactions, so it does the two one after the other, in the order that comes to the same.
import fc from 'fast-check'
import type { NewJob } from '../../../src/job/job.ts'
import type { ClaimRequest, JobStore } from '../../../src/store/job-store.ts'
import { eachOnce } from '../known-differences.ts'
import { agree, nameOfJob, type Pair, type Side } from '../two-sides.ts'
import { command, type LeaseCommand } from './command.ts'
import { sweepToTheEnd } from './operator-commands.ts'
import { jobIdsAt, type LeasePicks, leasePicks, leasesAt, pickIndexes, pickLeases, picks } from './picks.ts'
import { claimMany, grantedTo, namesOfAdded, newJobs } from './worker-commands.ts'

type Leases = ReturnType<typeof leasesAt>
type Finish = (
  store: JobStore,
  leases: Leases,
  options: { tx?: never },
) => Promise<{ jobId: string; outcome: string }[]>

const finishes: Record<'complete' | 'fail' | 'release', Finish> = {
  complete: (store, leases, options) => store.completeJobs(leases, options),
  fail: (store, leases, options) => store.failJobs(leases, options),
  release: (store, leases, options) => store.releaseJobs(leases, options),
}

interface Wish {
  verb: keyof typeof finishes
  leases: LeasePicks
  isCommitted: boolean
}

const claimDuring = fc
  .record({
    verb: fc.constantFrom<Wish['verb']>('complete', 'fail', 'release'),
    leases: leasePicks,
    isCommitted: fc.boolean(),
    request: claimMany,
  })
  .map((wish) =>
    command({ name: 'claimDuring', wish, needs: 'leases', act: (pair) => actDuringClaim(pair, wish) }),
  )

/** No claim takes a running job, so it comes to the same before the outcome: what that gives back is not there for it. */
async function actDuringClaim(pair: Pair, wish: Wish & { request: ClaimRequest }): Promise<void> {
  const indexes = pickLeases(pair.model, wish.leases)
  await agree(
    pair,
    `${tell(wish, indexes)}, and in between claim ${JSON.stringify(wish.request)}`,
    async (side) => {
      const claim = async () => grantedTo(side, await side.store.claimJobs(wish.request))
      if (side === pair.model) {
        const leases = leasesAt(side, indexes)
        const granted = await claim()
        const settled = await side.inTransaction(wish.isCommitted, (tx) => finish(side, wish, leases, tx))
        return { settled, granted }
      }
      return side.inTransaction(wish.isCommitted, async (tx) => {
        const settled = await finish(side, wish, leasesAt(side, indexes), tx)
        return { settled, granted: await claim() }
      })
    },
  )
}

const sweepDuring = leasePicks.map((leases) =>
  command({
    name: 'sweepDuring',
    wish: leases,
    needs: 'leases',
    act: async (pair) => {
      const wish: Wish = { verb: 'complete', leases, isCommitted: true }
      const indexes = pickLeases(pair.model, leases)
      // A job that is being completed is skipped, and has ended afterwards.
      await agree(pair, `${tell(wish, indexes)}, and in between a sweep`, (side) =>
        side.inTransaction(true, async (tx) => {
          const settled = await finish(side, wish, leasesAt(side, indexes), tx)
          return { settled, swept: await sweepToTheEnd(side, {}) }
        }),
      )
    },
  }),
)

const enqueueDuring = fc
  .record({ jobs: newJobs, isCommitted: fc.boolean(), request: claimMany })
  .map((wish) => command({ name: 'enqueueDuring', wish, act: (pair) => actDuringEnqueue(pair, wish) }))

/** Whether the claim changes what becomes of the new jobs: it may end a waiting job without budget, and free its dedupe key. */
async function depends(model: Side, jobs: NewJob[], request: ClaimRequest): Promise<boolean> {
  const outcomes = (isClaimed: boolean) =>
    model.inTransaction(false, async (tx) => {
      if (isClaimed) await model.store.claimJobs(request)
      return (await model.store.enqueueJobs(jobs, tx)).map(({ outcome }) => outcome).join()
    })
  return (await outcomes(false)) !== (await outcomes(true))
}

/** Nobody sees the new jobs before the end, so the claim comes to the same before them; rolled back, they never were. */
async function actDuringEnqueue(
  pair: Pair,
  { jobs, isCommitted, request }: { jobs: NewJob[]; isCommitted: boolean; request: ClaimRequest },
): Promise<void> {
  if (await depends(pair.model, jobs, request)) return
  const end = isCommitted ? 'committed' : 'rolled back'
  await agree(
    pair,
    `add ${JSON.stringify(jobs)} in a transaction that is ${end}, and in between claim ${JSON.stringify(request)}`,
    async (side) => {
      const claim = async () => grantedTo(side, await side.store.claimJobs(request))
      const before = side === pair.model ? await claim() : undefined
      const { answers, during } = await side.inTransaction(isCommitted, async (tx) => {
        const created = await side.store.enqueueJobs(jobs, tx)
        return { answers: created, during: before ?? (await claim()) }
      })
      if (isCommitted) return { created: namesOfAdded(side, answers), granted: during }
      return { created: answers.map(({ outcome }) => outcome), granted: during }
    },
  )
}

// All due jobs of one queue: locked jobs, which will be skipped, count for the share of a queue under a limit, and for which of
// several queues comes first.
const claimAll = claimMany.map((request) => ({
  ...request,
  queues: request.queues.slice(0, 1),
  limit: 1_000,
}))

const cancelDuring = fc.record({ picks, request: claimAll }).map((wish) =>
  command({
    name: 'cancelDuring',
    wish,
    needs: 'jobIds',
    act: async (pair) => {
      const indexes = eachOnce(pickIndexes(wish.picks, pair.model.jobIds.length))
      // A worker that is new: one reserved for a job that is being cancelled is so until the end, which the model cannot know.
      const request = { ...wish.request, workerId: `new-${pair.model.steps}` }
      // A waiting job that is being cancelled is skipped, and has ended afterwards.
      await agree(
        pair,
        `cancel jobs ${indexes.join()} in a transaction, and in between claim ${JSON.stringify(request)}`,
        (side) =>
          side.inTransaction(true, async (tx) => {
            const answers = await side.store.cancelJobs(jobIdsAt(side, indexes), tx)
            const granted = grantedTo(side, await side.store.claimJobs(request))
            return { outcomes: answers.map(({ outcome }) => outcome), granted }
          }),
      )
    },
  }),
)

async function finish(side: Side, { verb }: Wish, leases: Leases, options: { tx?: never }) {
  const answers = await finishes[verb](side.store, leases, options)
  return answers.map(({ jobId, outcome }) => ({ job: nameOfJob(side, jobId), outcome }))
}

function tell({ verb, isCommitted }: Wish, indexes: number[]): string {
  return `${verb} by leases ${indexes.join()} in a transaction that is ${isCommitted ? 'committed' : 'rolled back'}`
}

/** With their weights. */
export const transactionCommands: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[] = [
  { arbitrary: claimDuring, weight: 3 },
  { arbitrary: sweepDuring, weight: 1 },
  { arbitrary: enqueueDuring, weight: 1 },
  { arbitrary: cancelDuring, weight: 1 },
]
