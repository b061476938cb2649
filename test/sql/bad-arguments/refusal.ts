// A native install with one job of each kind, and what a refused argument has to look like.
import type pg from 'pg'
import { expect } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { digest } from '../digest.ts'

export const yearMs = 31_536_000_000
/** Running, and past its lease. */
export const heldId = '018f0000-0000-7000-8000-000000000001'
export const leaseId = '11111111-1111-4111-8111-111111111111'
/** Waiting, and due. */
export const dueId = '018f0000-0000-7000-8000-000000000002'
export const ids = `array['${heldId}'::uuid]`
export const leases = `array['${leaseId}'::uuid]`

/** A value, and how the message shows it where that is not the value itself. */
export type Bad = [value: unknown, shown?: string]
/** `call` has `$1` for the wrong value; `argument` is what the message has to call it. */
export type Row = [routine: string, argument: string, call: string, ...bad: Bad[]]

/** Only fine jobs stand before the bad one: a batch is written as a whole or not at all. */
export const badJob = (fields: object, shown: string): Bad => [
  JSON.stringify([{ type: 'a' }, { type: 'a', ...fields }]),
  shown,
]
export const badFailure = (fields: object, shown: string): Bad => [
  JSON.stringify([{ id: heldId, lease_id: leaseId, ...fields }]),
  shown,
]

export interface RefusalBench {
  client: pg.Client
  /** Puts jobs and policy back as they were. */
  plant(): Promise<void>
  /** Ours: the class UN, with a message that names the argument, what it got and what it takes. Nothing was written. */
  expectRefusals(...row: Row): Promise<void>
  close(): Promise<void>
}

export async function openRefusalBench(): Promise<RefusalBench> {
  const database: TestDatabase = await createInstalledDatabase()
  const client = await database.connect()
  return {
    client,
    plant: async () => {
      await client.query(plantSql)
    },
    expectRefusals: async (_, argument, call, ...bad) => {
      const statement = call.startsWith('call ') ? call : `select * from unstuck.${call}`
      for (const one of bad) await expectRefusal(client, argument, statement, one)
    },
    close: () => database.drop(),
  }
}

// One job of each kind that a call could touch by mistake.
const plantSql = `
  truncate unstuck.jobs, unstuck.events, unstuck.policies;
  insert into unstuck.policies (attachment) values ('native');
  insert into unstuck.jobs (id, type, status, lease_id, worker_id, lease_expires_at, heartbeat_at, attempt, finished_at)
  values ('${heldId}', 'a', 'running', '${leaseId}', 'w', now() - interval '1 h', now() - interval '2 h', 1, null),
         ('${dueId}', 'a', 'waiting', null, null, null, null, 0, null),
         (gen_random_uuid(), 'a', 'dead', null, null, null, null, 3, now() - interval '1 year'),
         (gen_random_uuid(), 'a', 'succeeded', null, null, null, null, 1, now() - interval '1 year')`

async function expectRefusal(
  client: pg.Client,
  argument: string,
  statement: string,
  bad: Bad,
): Promise<void> {
  const [value, shown = value === null ? 'NULL' : text(value)] = bad
  const call = `${statement} with ${JSON.stringify(value)}`
  const before = await digest(client)
  const error = await client.query(statement, [value]).then(
    () => ({ code: 'accepted', message: '' }),
    (reason: unknown) => reason as pg.DatabaseError,
  )
  // The call stands in the comparison, so that a failure tells which one it was.
  const { code, message } = error
  expect({ call, code, message, digest: await digest(client) }).toEqual({
    call,
    code: 'UN001',
    message: expect.stringMatching(/^\S+: got .*, takes \S/s),
    digest: before,
  })
  expect(message).toContain(`${argument}: got ${shown.slice(0, 60)}`)
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
