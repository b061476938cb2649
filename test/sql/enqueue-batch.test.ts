// A team's constraints and triggers apply to many jobs in one call as to one: without any, a batch is written in another way.
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAttachedDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const MANY = 50
let database: TestDatabase

beforeAll(async () => {
  database = await createAttachedDatabase()
})
afterAll(() => database.drop())

beforeEach(() => database.pool.query('truncate unstuck.jobs'))

interface Answer {
  id: string
  outcome: string
}

async function enqueue(job: object, count: number): Promise<Answer[]> {
  const jobs = Array.from({ length: count }, (_, index) => ({ payload: { index }, ...job }))
  const { rows } = await database.pool.query<Answer>(
    'select id, outcome from unstuck.enqueue_jobs($1::jsonb)',
    [JSON.stringify(jobs)],
  )
  return rows
}

async function refusal(job: object, count: number): Promise<unknown> {
  try {
    await enqueue(job, count)
    return 'was not refused'
  } catch (error) {
    const { code, message } = error as pg.DatabaseError
    return { code, message }
  }
}

/** With something in the table that was not there before. */
async function withAdded(add: string, remove: string, work: () => Promise<void>): Promise<void> {
  await database.pool.query(add)
  try {
    await work()
  } finally {
    await database.pool.query(remove)
  }
}

const trigger = (body: string) => `
  create function unstuck.team_trigger() returns trigger language plpgsql as $$ begin ${body} end $$;
  create trigger team_trigger before insert on unstuck.jobs for each row execute function unstuck.team_trigger()`
const noTrigger = 'drop trigger team_trigger on unstuck.jobs; drop function unstuck.team_trigger()'
const takenRow = {
  code: 'UN001',
  message: 'job of type asr: got a row that a unique constraint of jobs refuses, takes one that is new to it',
}

describe('enqueue_jobs with many jobs', () => {
  it('WORK-7 a unique constraint of the team refuses them with one clear error', async () => {
    await withAdded(
      'alter table unstuck.jobs add constraint team_unique unique (owner)',
      'alter table unstuck.jobs drop constraint team_unique',
      async () => {
        await enqueue({ type: 'burnin', owner: 'o' }, 1)
        expect(await refusal({ type: 'asr', owner: 'o' }, 1)).toEqual(takenRow)
        expect(await refusal({ type: 'asr', owner: 'o' }, MANY)).toEqual(takenRow)
      },
    )
  })

  it('WORK-7 a trigger of the team that leaves rows out refuses them with one clear error', async () => {
    await withAdded(trigger('return null;'), noTrigger, async () => {
      expect(await refusal({ type: 'asr' }, 1)).toEqual(takenRow)
      expect(await refusal({ type: 'asr' }, MANY)).toEqual(takenRow)
    })
  })

  it('WORK-7 a dedupe key that a trigger of the team gives answers the job that has it', async () => {
    await withAdded(trigger(`new.dedupe_key := 'same'; return new;`), noTrigger, async () => {
      expect(await refusal({ type: 'asr' }, MANY)).toEqual(takenRow)
      expect(await refusal({ type: 'asr' }, 2)).toEqual(takenRow)
    })
  })

  it('WORK-7 a rule of the team decides about them as about one', async () => {
    await withAdded(
      'create rule team_rule as on insert to unstuck.jobs do also notify team',
      'drop rule team_rule on unstuck.jobs',
      async () => {
        const one = await refusal({ type: 'asr' }, 1)
        expect(await refusal({ type: 'asr' }, MANY)).toEqual(one)
      },
    )
  })

  it('WORK-7 what an index or a trigger of the team does not change is written', async () => {
    await withAdded(
      'create index team_index on unstuck.jobs (owner)',
      'drop index unstuck.team_index',
      async () => {
        expect(await enqueue({ type: 'asr', owner: 'o' }, MANY)).toHaveLength(MANY)
      },
    )
    await withAdded(trigger('new.owner := new.type; return new;'), noTrigger, async () => {
      expect(await enqueue({ type: 'asr' }, MANY)).toHaveLength(MANY)
    })
    const { rows } = await database.pool.query(
      'select count(*)::int as count, owner from unstuck.jobs group by owner',
    )
    expect(rows).toEqual(
      expect.arrayContaining([
        { count: MANY, owner: 'o' },
        { count: MANY, owner: 'asr' },
      ]),
    )
  })

  it.each([
    ['the native table', ''],
    ['the table of a team', '__jobs'],
  ])('WORK-7 nothing in %s refuses them as it is installed', async (_, suffix) => {
    const { rows } = await database.pool.query(`select unstuck.has_row_constraints${suffix}() as "mayRefuse"`)
    expect(rows).toEqual([{ mayRefuse: false }])
  })

  it('WORK-7 their ids are of version 7, of this moment, and a microsecond apart', async () => {
    const { rows } = await database.pool.query<{ before_ms: number; after_ms: number; id: string }>(
      `select extract(epoch from now()) * 1000 as before_ms, id, extract(epoch from clock_timestamp()) * 1000 as after_ms
         from unstuck.enqueue_jobs(jsonb_build_array() || (select jsonb_agg(jsonb_build_object('type', 'asr'))
                                                             from generate_series(1, 3000)))`,
    )
    const hex = rows.map(({ id }) => id.replaceAll('-', ''))
    const micros = hex.map(
      (id) =>
        parseInt(id.slice(0, 12), 16) * 1000 + Math.ceil((parseInt(id.slice(13, 16), 16) * 1000) / 4096),
    )
    expect(hex.every((id) => id[12] === '7' && /[89ab]/.test(id[16] ?? ''))).toBe(true)
    expect(micros.map((micro, index) => micro - index)).toEqual(micros.map(() => micros[0]))
    expect(new Set(hex.map((id) => id.slice(16))).size).toBe(3000)
    expect(Number(micros[0]) / 1000).toBeGreaterThan(Number(rows[0]?.before_ms) - 1)
    expect(Number(micros[0]) / 1000).toBeLessThan(Number(rows[0]?.after_ms) + 1)
  })
})
