// Tokens, and a breaker: reports of calls, health probes, holds and settings. Which jobs a half-open one lets through is left to the
// conformance suite: PostgreSQL asks it once in a claim, for the first jobs of one priority, and the memory store for every job.
import fc from 'fast-check'
import type { Breaker } from '../../../src/store/job-store.ts'
import { HOUR, stepsUntil } from '../timing.ts'
import { agree, type Pair } from '../two-sides.ts'
import { command } from './command.ts'
import { ampleBudget } from './group-commands.ts'
import { passHours } from './operator-commands.ts'
import { present, rarely } from './optional-fields.ts'
import { jobIdsAt, pickIndexes, picks } from './picks.ts'
import { add } from './worker-commands.ts'

const BREAKER = 'gateway'
const QUEUE = 'encode'

const bucket = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  ratePerS: fc.constantFrom(1_000 / HOUR, 2_000 / HOUR),
  burst: fc.integer({ min: 1, max: 3 }),
})

const takeTokens = fc
  .tuple(
    fc.uniqueArray(bucket, { minLength: 1, maxLength: 2, selector: ({ key }) => key }),
    fc.integer({ min: 1, max: 3 }),
  )
  .map(([limits, tokens]) =>
    command({
      name: 'takeTokens',
      wish: { limits, tokens },
      act: async (pair) => {
        await agree(pair, `${tokens} tokens of ${JSON.stringify(limits)}`, async ({ store }) => {
          const { granted, retryInMs } = await store.takeTokens(limits, tokens)
          return { granted, retryIn: stepsIn(retryInMs) }
        })
      },
    }),
  )

const settings = present({
  mode: rarely(fc.constantFrom('hold', 'half-open')),
  windowCalls: rarely(fc.integer({ min: 1, max: 4 })),
  minCalls: rarely(fc.integer({ min: 1, max: 3 })),
  closeAfter: rarely(fc.integer({ min: 1, max: 2 })),
  probeSlots: rarely(fc.integer({ min: 1, max: 2 })),
})

const writeBreaker = settings.map((wish) =>
  command({
    name: 'writeBreaker',
    wish,
    act: async (pair) => {
      await agree(pair, `settings of the breaker ${JSON.stringify(wish)}`, async ({ store }) =>
        described(await store.writeBreaker(BREAKER, wish)),
      )
    },
  }),
)

const call = present({
  isFailure: fc.boolean(),
  limitedMs: rarely(fc.constant(2 * HOUR)),
})

const recordCalls = fc.tuple(picks, fc.array(call, { minLength: 3, maxLength: 3 })).map(([numbers, calls]) =>
  command({
    name: 'recordCalls',
    wish: { picks: numbers, calls },
    needs: 'jobIds',
    act: async (pair) => {
      const indexes = pickIndexes(numbers, pair.model.jobIds.length)
      const said = indexes.map((index, nth) => `job ${index} ${JSON.stringify(calls[nth])}`)
      await agree(pair, `calls of ${said.join(', ')}`, async (side) => {
        const named = jobIdsAt(side, indexes).map((jobId, nth) => ({ jobId, ...calls[nth] }))
        return described(await side.store.recordCalls(BREAKER, named))
      })
    },
  }),
)

const recordProbe = fc.boolean().map((isHealthy) =>
  command({
    name: 'recordProbe',
    wish: isHealthy,
    act: async (pair) => {
      await agree(pair, `a ${isHealthy ? 'good' : 'bad'} probe`, async ({ store }) =>
        described(await store.recordProbe(BREAKER, isHealthy)),
      )
    },
  }),
)

const hold = fc.constantFrom('hold', 'resume').map((wish) =>
  command({
    name: wish,
    wish,
    act: async (pair) => {
      await agree(pair, `${wish} the breaker`, async ({ store }) =>
        described(
          wish === 'hold'
            ? await store.holdBreaker(BREAKER, { durationMs: 2 * HOUR })
            : await store.resumeBreaker(BREAKER),
        ),
      )
    },
  }),
)

const passTime = fc
  .constantFrom(0, 1, 2, 3, 5)
  .map((hours) => command({ name: 'expire', wish: hours, act: (pair) => passHours(pair, hours) }))

const look = fc.constant(null).map((wish) =>
  command({
    name: 'listBreakers',
    wish,
    act: async (pair) => {
      await agree(pair, 'the breaker', async ({ store }) => (await store.listBreakers()).map(described))
    },
  }),
)

/** Until a time to come. A report takes the time a moment after its transaction began. */
const stepsIn = (waitMs: number | null) => (waitMs === null ? null : stepsUntil(waitMs - 1_000, 0))

function described(breaker: Breaker) {
  const { state, reason, calls, failures, successes, probing, reopens, unheard } = breaker
  return {
    state,
    reason,
    calls,
    failures,
    successes,
    probing,
    reopens,
    unheard,
    nextProbeIn: stepsIn(breaker.nextProbeInMs),
    earlyProbeIn: stepsIn(breaker.earlyProbeInMs),
    heldFor: stepsIn(breaker.heldForMs),
  }
}

export const gatePolicy = ampleBudget

export async function openGates(pair: Pair): Promise<void> {
  const start = {
    minCalls: 2,
    windowCalls: 4,
    cooldownMs: 2 * HOUR,
    closeAfter: 2,
    probeIntervalMs: HOUR,
    probeTimeoutMs: 5 * HOUR,
  }
  await agree(pair, 'the breaker', async ({ store }) => {
    const written = described(await store.writeBreaker(BREAKER, start))
    return { written, isMapped: await store.mapDependency(QUEUE, BREAKER) }
  })
}

/** Before the last claims, which must meet every job. */
export async function removeGates(pair: Pair): Promise<void> {
  await agree(pair, 'the end of the breaker', ({ store }) => store.mapDependency(QUEUE, null))
}

/** With their weights. */
export const gateCommands = [
  { arbitrary: add, weight: 4 },
  { arbitrary: look, weight: 4 },
  { arbitrary: takeTokens, weight: 6 },
  { arbitrary: recordCalls, weight: 8 },
  { arbitrary: recordProbe, weight: 4 },
  { arbitrary: writeBreaker, weight: 1 },
  { arbitrary: hold, weight: 1 },
  { arbitrary: passTime, weight: 5 },
]
