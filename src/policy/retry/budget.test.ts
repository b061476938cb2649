import { describe, expect, it } from 'vitest'
import vectors from '../../../test/vectors/budget.json' with { type: 'json' }
import lastChanceVectors from '../../../test/vectors/last-chance.json' with { type: 'json' }
import { clipProfile } from '../../profile/clip.ts'
import { nativePolicy, type Policy } from '../policy.ts'
import {
  type AttemptEnd,
  type Counts,
  countEnd,
  failureOrdinal,
  hasBudget,
  isFailureFinal,
  isLastChance,
  isReapFinal,
  reapOrdinal,
} from './budget.ts'

interface BudgetVector {
  name: string
  input: {
    policy: Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget' | 'maxCrashes' | 'maxTimeouts'>
    /** Counts of the running job after its claim. */
    counts: Counts
    by: 'holder' | 'sweep'
    end: AttemptEnd
  }
  expected: {
    /** Could a waiting job with these counts be claimed? */
    hasBudget: boolean
    isFinal: boolean
    after: Omit<Counts, 'maxAttempts'>
    /** Which wait of the backoff would come next. */
    ordinal: number
  }
}

describe('the budget of a job', () => {
  it.each(vectors as unknown as BudgetVector[])('$name', ({ input, expected }) => {
    const policy = { ...nativePolicy, ...input.policy }
    const { maxAttempts, ...after } = countEnd(policy, input.counts, input.end)
    expect({
      hasBudget: hasBudget(policy, input.counts),
      isFinal: isFinal(policy, input),
      after,
      ordinal:
        input.by === 'holder'
          ? failureOrdinal(policy, { ...after, maxAttempts })
          : reapOrdinal(policy, { ...after, maxAttempts }),
    }).toEqual(expected)
  })
})

function isFinal(policy: Policy, { by, counts, end }: Omit<BudgetVector['input'], 'policy'>): boolean {
  if (by === 'holder' && end !== 'crash') return isFailureFinal(policy, countEnd(policy, counts, end), end)
  if (by === 'sweep' && end !== 'failure') return isReapFinal(policy, counts, end)
  throw new Error(`a ${by} does not tell of a ${end}`)
}

const executorPolicy: Policy = {
  ...nativePolicy,
  attemptCountedAt: 'failure-and-reap',
  failureBudget: 'attempts',
  reapBudget: 'attempts',
  maxAttempts: 10,
}

interface LastChanceVector {
  name: string
  /** `counts` are those of the waiting job. */
  input: Pick<BudgetVector['input'], 'policy' | 'counts'>
  expected: boolean
}

describe('the last chance of a job', () => {
  it.each(lastChanceVectors as unknown as LastChanceVector[])('$name', ({ input, expected }) => {
    expect(isLastChance({ ...nativePolicy, ...input.policy }, input.counts)).toBe(expected)
  })
})

describe('every way through a budget', () => {
  it.each([
    { name: 'native', policy: nativePolicy },
    { name: 'clip', policy: clipProfile.tables[0].policy },
    { name: 'executor', policy: executorPolicy },
  ])('C10 FAIL-5 ends, and leaves no waiting job that cannot be claimed, under $name', ({ policy }) => {
    expect(walk(policy)).toEqual({ unclaimable: [], isEndless: false })
  })

  it.each(everyCounting())(
    'C10 FAIL-5 so does $attemptCountedAt, $failureBudget, $reapBudget',
    (counting) => {
      expect(walk({ ...nativePolicy, ...counting })).toEqual({ unclaimable: [], isEndless: false })
    },
  )
})

/** Every way to count but the one that is refused: a crash that counts nowhere cannot bound reaps. */
function everyCounting(): Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget'>[] {
  return (['claim', 'failure', 'failure-and-reap'] as const).flatMap((attemptCountedAt) =>
    (['attempts', 'failures'] as const).flatMap((failureBudget) =>
      (['attempts', 'crashes'] as const)
        .filter((reapBudget) => reapBudget === 'crashes' || attemptCountedAt !== 'failure')
        .map((reapBudget) => ({ attemptCountedAt, failureBudget, reapBudget })),
    ),
  )
}

/** All lives of a job in which every attempt ends in some bad way. */
function walk(policy: Policy): { unclaimable: Counts[]; isEndless: boolean } {
  const start = { attempt: 0, failures: 0, crashes: 0, timeouts: 0, maxAttempts: policy.maxAttempts }
  const unclaimable: Counts[] = []
  const seen = new Set<string>()
  let ways = [start]
  for (let runs = 0; runs < 50 && ways.length > 0; runs += 1) {
    unclaimable.push(...ways.filter((counts) => !hasBudget(policy, counts)))
    ways = ways
      .flatMap((counts) => waitingAfter(policy, counts))
      .filter((counts) => {
        const key = JSON.stringify(counts)
        return !seen.has(key) && seen.add(key)
      })
  }
  return { unclaimable, isEndless: ways.length > 0 }
}

/** The waiting jobs that one more claim and each of its bad ends lead to. */
function waitingAfter(policy: Policy, waiting: Counts): Counts[] {
  const running = { ...waiting, attempt: waiting.attempt + (policy.attemptCountedAt === 'claim' ? 1 : 0) }
  const ends: Omit<BudgetVector['input'], 'policy'>[] = [
    { counts: running, by: 'holder', end: 'failure' },
    { counts: running, by: 'holder', end: 'timeout' },
    { counts: running, by: 'sweep', end: 'crash' },
    { counts: running, by: 'sweep', end: 'timeout' },
  ]
  return ends.filter((end) => !isFinal(policy, end)).map(({ end }) => countEnd(policy, running, end))
}
