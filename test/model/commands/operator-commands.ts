// Commands of time, reapers and people.
import fc from 'fast-check'
import type { ManualOptions, ReaperFacts, SweepRequest } from '../../../src/store/job-store.ts'
import { eachOnce } from '../known-differences.ts'
import { limitChange } from '../policies.ts'
import { elapseOfHours, HOUR, STEP } from '../timing.ts'
import { agree, type Model, nameOfJob, type Pair, type Side } from '../two-sides.ts'
import { command, type LeaseCommand } from './command.ts'
import { present, rarely } from './optional-fields.ts'
import { jobIdsAt, manyPicks, pickIndexes, picks } from './picks.ts'
import { SWEEP_INTERVAL_MS } from './report-commands.ts'

/** Nothing much, one lease, the longest lease, every deadline, the retention. */
const hours = fc.oneof(
  { arbitrary: fc.constant(0), weight: 2 },
  { arbitrary: fc.constantFrom(1, 2, 3, 5), weight: 8 },
  { arbitrary: fc.constant(24), weight: 1 },
)

const expire = hours.map((count) =>
  command({ name: 'expire', wish: count, act: (pair) => passHours(pair, count) }),
)

export async function passHours({ model, system }: Pair, hoursPassed: number): Promise<void> {
  const ms = elapseOfHours(hoursPassed)
  await Promise.all([model.elapse(ms), system.elapse(ms)])
  model.sinceSweepMs += ms
  model.story.push(`${hoursPassed} h and a moment go by`)
}

/** How the reaper calls: by hand, for the first time, as every minute, after failures, after a step of the clock. */
const reaping = fc.record({
  afterHours: fc.option(hours, { nil: undefined, freq: 2 }),
  as: fc.constantFrom<Way>('hand', 'hand', 'hand', 'first', 'tick', 'tick', 'failing', 'stepped'),
  limit: rarely(fc.integer({ min: 1, max: 2 })),
  /** Leaves the sweep to whoever swept within it. */
  intervalMs: rarely(fc.constant(SWEEP_INTERVAL_MS)),
})

const reap = reaping.map((wish) =>
  command({
    name: 'reap',
    wish,
    act: async (pair) => {
      const { model } = pair
      const { afterHours, as, limit, intervalMs } = wish
      if (afterHours !== undefined) await passHours(pair, afterHours)
      await agree(pair, 'preview of a sweep', async (side) =>
        namesOfReaped(side, await side.store.previewSweep()),
      )
      await agree(pair, `sweep (${as}, ${limit ?? 'no'} limit)`, async (side) => {
        const reaper = factsOf(model, side, as)
        return sweepToTheEnd(side, {
          ...(reaper === undefined
            ? {}
            : { reaper: { ...reaper, ...(intervalMs !== undefined && { intervalMs }) } }),
          ...(limit === undefined ? {} : { limit }),
        })
      })
      if (as !== 'hand') model.sinceSweepMs = 0
    },
  }),
)

type Way = 'hand' | 'first' | 'tick' | 'failing' | 'stepped'

function factsOf(model: Model, side: Side, as: Way): ReaperFacts | undefined {
  if (as === 'hand') return undefined
  const reaper = { reaperId: 'reaper-1' }
  if (as === 'failing') return { ...reaper, failingForMs: 2 * HOUR }
  if (as === 'first' || side.lastSweptAtMs === null) return reaper
  // Half a step more than the model's clock says: the test itself takes a moment, and the hold begins at 5 s.
  const isStepped = as === 'stepped' && model.sinceSweepMs > 0
  const elapsedMs = isStepped ? 0 : model.sinceSweepMs + STEP / 2
  return { ...reaper, lastSweptAt: new Date(side.lastSweptAtMs).toISOString(), elapsedMs }
}

export async function sweepToTheEnd(side: Side, request: SweepRequest) {
  const steps = [await side.store.sweepJobs(request)]
  for (let next = steps[0]?.next ?? null; next !== null; next = steps.at(-1)?.next ?? null) {
    if (steps.length > 200) throw new Error('this sweep does not end')
    steps.push(await side.store.sweepJobs({ ...request, cursor: next }))
  }
  // The time of the first step, because the model's clock stands still in a sweep: an outage ends with the step that found it, and no
  // millisecond may decide whether the next one begins after that.
  if (request.reaper !== undefined) side.lastSweptAtMs = Date.parse(steps[0]?.sweptAt ?? '')
  return steps.map(({ reaped, held, holdReason, isRedundant = false }) => ({
    isRedundant,
    reaped: namesOfReaped(side, reaped),
    held,
    holdReason,
  }))
}

/** The order within a step is nobody's promise. */
function namesOfReaped<T extends { jobId: string }>(side: Side, reaped: T[]) {
  return reaped
    .toSorted((a, b) => side.jobIds.indexOf(a.jobId) - side.jobIds.indexOf(b.jobId))
    .map(({ jobId, ...rest }) => ({ job: nameOfJob(side, jobId), ...rest }))
}

const owner = fc.constantFrom('alice', 'bob')
const reason = fc.constant('wrong file')
const manual: fc.Arbitrary<ManualOptions<never>> = present({
  owner: rarely(owner),
  actor: rarely(fc.constant('ops')),
  reason: rarely(reason),
})

const cancel = fc.tuple(picks, manual).map(([numbers, options]) =>
  command({
    name: 'cancel',
    wish: { picks: numbers, ...options },
    needs: 'jobIds',
    act: (pair) =>
      askAboutJobs(pair, `cancel ${JSON.stringify(options)}`, numbers, (side, jobIds) =>
        side.store.cancelJobs(jobIds, options),
      ),
  }),
)

const retryWish = present({
  owner: rarely(owner),
  reason: rarely(reason),
  keepAttempts: rarely(fc.boolean()),
  generation: rarely(fc.constantFrom('right', 'wrong')),
})

const retry = fc.tuple(manyPicks, retryWish).map(([numbers, wish]) =>
  command({
    name: 'retry',
    wish: { picks: numbers, ...wish },
    needs: 'jobIds',
    act: async (pair) => {
      const { generation: which, ...options } = wish
      const current = await generationOf(pair.model, numbers)
      const generation = which === undefined ? {} : { generation: which === 'right' ? current : current + 1 }
      const request = { ...options, ...generation }
      await askAboutJobs(pair, `retry ${JSON.stringify(request)}`, numbers, (side, jobIds) =>
        side.store.retryJobs(jobIds, request),
      )
    },
  }),
)

async function generationOf(model: Model, numbers: number[]): Promise<number> {
  const [jobId = ''] = jobIdsAt(model, pickIndexes(numbers, model.jobIds.length))
  return (await model.store.getJob(jobId))?.generation ?? 1
}

async function askAboutJobs(
  pair: Pair,
  what: string,
  numbers: number[],
  ask: (side: Side, jobIds: string[]) => Promise<{ jobId: string; outcome: string }[]>,
): Promise<void> {
  const indexes = eachOnce(pickIndexes(numbers, pair.model.jobIds.length))
  await agree(pair, `${what} of jobs ${indexes.join()}`, async (side) => {
    const answers = await ask(side, jobIdsAt(side, indexes))
    return answers.map(({ jobId, outcome }) => ({ job: nameOfJob(side, jobId), outcome }))
  })
}

const prune = rarely(fc.integer({ min: 1, max: 3 })).map((limit) =>
  command({
    name: 'prune',
    wish: limit,
    isForgetful: true,
    act: async (pair) => {
      await agree(pair, `prune ${limit ?? ''}`, async (side) => {
        const request = limit === undefined ? {} : { limit }
        const steps = [await side.store.pruneJobs(request)]
        for (let next = steps[0]?.next ?? null; next !== null; next = steps.at(-1)?.next ?? null) {
          if (steps.length > 200) throw new Error('this pruning does not end')
          steps.push(await side.store.pruneJobs({ ...request, cursor: next }))
        }
        // A place is a time, of two clocks.
        return steps.map(({ deleted, next }) => ({ deleted, isLast: next === null }))
      })
    },
  }),
)

const changePolicy = limitChange.map((change) =>
  command({
    name: 'changePolicy',
    wish: change,
    act: async (pair) => {
      await agree(pair, `change of policy ${JSON.stringify(change)}`, async (side) => {
        const { maxAttempts, maxCrashes, maxTimeouts } = await side.store.writePolicy(change)
        return { maxAttempts, maxCrashes, maxTimeouts }
      })
    },
  }),
)

/** With their weights. */
export const timeAndPeople: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[] = [
  { arbitrary: expire, weight: 5 },
  { arbitrary: reap, weight: 6 },
  { arbitrary: cancel, weight: 3 },
  { arbitrary: retry, weight: 4 },
  { arbitrary: prune, weight: 1 },
]

export const operatorCommands = [...timeAndPeople, { arbitrary: changePolicy, weight: 2 }]
