// Heartbeats alone give up synchronous commit, and only for themselves (C14).

import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { startOne } from '../../src/store/conformance/builders.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let bench: PostgresBench

beforeAll(async () => {
  bench = await createPostgresBench({ profile, table })
})
afterAll(() => bench.close())

async function settingAfter(beat: (client: pg.Client) => Promise<unknown>): Promise<string[]> {
  const client = await bench.database.connect()
  const read = async () => {
    const { rows } = await client.query<{ setting: string }>(
      "select current_setting('synchronous_commit') as setting",
    )
    return String(rows[0]?.setting)
  }
  await client.query('begin')
  await beat(client)
  const inside = await read()
  await client.query('commit')
  return [inside, await read()]
}

describe('the commit of a heartbeat', () => {
  it('C14 the call of the store does not wait for the disk, and leaves nothing on the connection', async () => {
    const { store } = await bench.open()
    const lease = await startOne(store)
    const setting = await settingAfter((client) =>
      createPostgresStore({ client, table }).heartbeatJobs([lease]),
    )
    expect(setting).toEqual(['off', 'on'])
  })

  it('C14 the function leaves the transaction of its caller as safe as it was', async () => {
    const { store } = await bench.open()
    const { jobId, leaseId } = await startOne(store)
    const setting = await settingAfter((client) =>
      client.query('select * from unstuck.heartbeat_jobs(array[$1::uuid], array[$2::uuid])', [
        jobId,
        leaseId,
      ]),
    )
    expect(setting).toEqual(['on', 'on'])
  })
})
