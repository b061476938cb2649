// The formulas that TypeScript has too, held to the database's by the vectors both are tested with (design §8).
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/policy/policy.ts'
import { causeId } from '../../src/store/memory/reading/cause-id.ts'
import { policyToJson } from '../../src/store/postgres/rows/policy-row.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import backoffVectors from '../vectors/backoff.json' with { type: 'json' }
import budgetVectors from '../vectors/budget.json' with { type: 'json' }
import causeVectors from '../vectors/cause-id.json' with { type: 'json' }
import lastChanceVectors from '../vectors/last-chance.json' with { type: 'json' }
import maxRuntimeVectors from '../vectors/max-runtime.json' with { type: 'json' }
import releaseVectors from '../vectors/release-delay.json' with { type: 'json' }
import stageLeaseVectors from '../vectors/stage-lease.json' with { type: 'json' }

interface StageLeaseVector {
  name: string
  input: Pick<
    Policy,
    'defaultLeaseMs' | 'stageLeasesMs' | 'stageFactors' | 'defaultDeadlineMs' | 'stageDeadlinesMs'
  > & { stage: string; expectedDurationMs: number | null }
  expected: { leaseMs: number; deadlineMs: number | null }
}

interface MaxRuntimeVector {
  name: string
  input: Pick<Policy, 'maxRuntimeMs' | 'typeRuntimesMs'> & { type: string }
  expected: number | null
}

interface BudgetVector {
  name: string
  input: {
    policy: Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget' | 'maxCrashes' | 'maxTimeouts'>
    counts: Record<'attempt' | 'failures' | 'crashes' | 'timeouts' | 'maxAttempts', number>
    by: 'holder' | 'sweep'
    end: 'failure' | 'timeout' | 'crash'
  }
  expected: {
    hasBudget: boolean
    isFinal: boolean
    after: Record<'attempt' | 'failures' | 'crashes' | 'timeouts', number>
    ordinal: number
  }
}

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createInstalledDatabase()
  client = await database.connect()
})
beforeEach(() => client.query('truncate unstuck.jobs'))
afterAll(() => database.drop())

async function answer(expression: string, params: unknown[]): Promise<unknown> {
  const { rows } = await client.query<{ answer: unknown }>(`select ${expression} as answer`, params)
  return rows[0]?.answer
}

const number = (value: unknown) => (value === null ? null : Number(value))

describe('unstuck.backoff_ms', () => {
  it.each(backoffVectors)('$name', async ({ input, expected }) => {
    const { stepsMs, baseMs, maxMs, jitterMs, ordinal, random } = input
    const params = [stepsMs, baseMs, maxMs, jitterMs, ordinal, random]
    expect(number(await answer('unstuck.backoff_ms($1, $2, $3, $4, $5, $6)', params))).toBe(expected)
  })
})

describe('unstuck.is_released_often and release_delay_ms', () => {
  it.each(releaseVectors)('$name', async ({ input, expected }) => {
    const { releases, startedAgoMs, askedMs, lastMs } = input
    const often = `unstuck.is_released_often($1, now() - $2::float8 * interval '1 millisecond', now())`
    const isOften = await answer(often, [releases, startedAgoMs])
    const delayMs = await answer('unstuck.release_delay_ms($1, $2, $3)', [askedMs, lastMs, isOften])
    expect({ isOften, delayMs }).toEqual(expected)
  })
})

describe('unstuck.stage_lease_ms and stage_deadline_ms', () => {
  it.each(stageLeaseVectors as unknown as StageLeaseVector[])('$name', async ({ input, expected }) => {
    const { stage, expectedDurationMs, ...settings } = input
    const policy = policyToJson(settings)
    const lease = `unstuck.stage_lease_ms(unstuck.policy_of('native', $1), $2, $3)`
    const deadline = `unstuck.stage_deadline_ms(unstuck.policy_of('native', $1), $2)`
    expect({
      leaseMs: number(await answer(lease, [policy, stage, expectedDurationMs])),
      deadlineMs: number(await answer(deadline, [policy, stage])),
    }).toEqual(expected)
  })
})

describe('unstuck.max_runtime_ms', () => {
  it.each(maxRuntimeVectors as unknown as MaxRuntimeVector[])('$name', async ({ input, expected }) => {
    const { type, ...settings } = input
    const formula = `unstuck.max_runtime_ms(unstuck.policy_of('native', $1), $2)`
    expect(number(await answer(formula, [policyToJson(settings), type]))).toBe(expected)
  })
})

// Steps that tell their own ordinal, and nothing random beside them.
const stepsMs = Array.from({ length: 20 }, (_, index) => 1000 * (index + 1))
const toldOrdinals = {
  reapBackoffStepsMs: stepsMs,
  failureBackoffStepsMs: stepsMs,
  failureBackoffJitterMs: 0,
  requeueRatePerS: 0,
}

describe('unstuck.has_budget, is_failure_final and is_reap_final', () => {
  it.each(budgetVectors as unknown as BudgetVector[])('$name', async ({ input, expected }) => {
    const { counts, by, end } = input
    const { after } = expected
    const policy = policyToJson(input.policy)
    const { attempt, failures, crashes, timeouts, maxAttempts } = counts
    expect(
      await answer(`unstuck.has_budget(unstuck.policy_of('native', $1), $2, $3, $4, $5, $6)`, [
        policy,
        attempt,
        failures,
        crashes,
        timeouts,
        maxAttempts,
      ]),
    ).toBe(expected.hasBudget)
    const isTimeout = end === 'timeout'
    const isFinal =
      by === 'holder'
        ? await answer(
            `unstuck.is_failure_final(unstuck.policy_of('native', $1), true, 'TRANSIENT', $2, $3, $4, $5, $6, $7)`,
            [policy, isTimeout, after.attempt, after.failures, after.crashes, after.timeouts, maxAttempts],
          )
        : await answer(`unstuck.is_reap_final(unstuck.policy_of('native', $1), $2, $3, $4, $5, $6, $7)`, [
            policy,
            isTimeout,
            attempt,
            failures,
            crashes,
            timeouts,
            maxAttempts,
          ])
    expect(isFinal).toBe(expected.isFinal)
  })
})

describe('unstuck.is_last_chance', () => {
  it.each(lastChanceVectors as unknown as Pick<BudgetVector, 'name' | 'input'>[])('$name', async (vector) => {
    const { attempt, failures, crashes, timeouts, maxAttempts } = vector.input.counts
    expect(
      await answer(`unstuck.is_last_chance(unstuck.policy_of('native', $1), $2, $3, $4, $5, $6)`, [
        policyToJson(vector.input.policy),
        attempt,
        failures,
        crashes,
        timeouts,
        maxAttempts,
      ]),
    ).toBe(Reflect.get(vector, 'expected'))
  })
})

describe('unstuck.cause_id', () => {
  it.each(causeVectors)('$name', async ({ same }) => {
    for (const [code = null, given = null] of same) {
      const reason = given?.replace('LONG', 'x'.repeat(499)) ?? null
      expect(await answer('unstuck.cause_id($1, $2)', [code, reason])).toBe(causeId(code, reason))
    }
  })
})

describe('unstuck.fail_jobs and reap_jobs', () => {
  it.each(budgetVectors as unknown as BudgetVector[])('$name', async ({ input, expected }) => {
    const policy = policyToJson({ ...input.policy, ...toldOrdinals })
    const [id, leaseId] = await plantRunning(input)
    const { rows } =
      input.by === 'holder'
        ? await client.query('select outcome, retry_in_ms from unstuck.fail_jobs($1, $2)', [
            JSON.stringify([{ id, lease_id: leaseId, cause: input.end }]),
            policy,
          ])
        : await client.query('select action as outcome, retry_in_ms from unstuck.reap_jobs(1, null, $1)', [
            policy,
          ])
    const again = input.by === 'holder' ? 'retried' : 'requeued'
    expect(rows).toEqual([
      expected.isFinal
        ? { outcome: 'dead', retry_in_ms: null }
        : { outcome: again, retry_in_ms: 1000 * Math.max(1, expected.ordinal) },
    ])
    const { rows: jobs } = await client.query('select attempt, failures, crashes, timeouts from unstuck.jobs')
    expect(jobs).toEqual([expected.after])
  })

  async function plantRunning({ counts, end }: BudgetVector['input']): Promise<[string, string]> {
    const { attempt, failures, crashes, timeouts, maxAttempts } = counts
    const { rows } = await client.query<{ id: string; lease_id: string }>(
      `insert into unstuck.jobs (id, type, status, worker_id, lease_id, lease_expires_at, heartbeat_at, deadline_at,
                                 attempt, failures, crashes, timeouts, max_attempts)
       values (gen_random_uuid(), 'a', 'running', 'w', gen_random_uuid(), now() - interval '1 s',
               now() - interval '1 h', case when $1 then now() - interval '1 s' end, $2, $3, $4, $5, $6)
       returning id, lease_id`,
      [end === 'timeout', attempt, failures, crashes, timeouts, maxAttempts],
    )
    return [String(rows[0]?.id), String(rows[0]?.lease_id)]
  }
})
