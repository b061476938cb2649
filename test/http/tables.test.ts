// A profile of several tables: an id is found in any of them, job lists are per table, small lists cover all.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../src/commands/actor.ts'
import { type Deployment, openDeployment } from '../../src/compose/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { type BuiltApp, buildApp } from '../../src/http/app.ts'
import { createAttachedDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { enqueue } from './http-bench.ts'

let database: TestDatabase
let deployment: Deployment
let app: BuiltApp

beforeAll(async () => {
  database = await createAttachedDatabase()
  deployment = openDeployment(loadConfig({ env: { DATABASE_URL: database.url, UNSTUCK_PROFILE: 'clip' } }))
  const { tables, access } = deployment
  app = buildApp({ tables, access, authorize: () => ({ id: 'test', scopes }) })
})

afterAll(async () => {
  await app.close()
  await deployment.close()
  await database.drop()
})

async function get(path: string) {
  const response = await app.fetch(new Request(`http://127.0.0.1${path}`))
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('several tables', () => {
  it('OPS-9 a job is found by its id in any of them, and listed in its own', async () => {
    const [jobs, asr] = deployment.tables
    if (asr === undefined) throw new Error('the profile has one table')
    const first = await enqueue(jobs.store, { type: 'clip' })
    const second = await enqueue(asr.store, { type: 'asr' })
    expect((await get(`/v1/jobs/${second}`)).body.job).toMatchObject({ id: second, table: 'asr_jobs' })
    expect((await get(`/v1/jobs/${second}?table=jobs`)).status).toBe(404)
    expect((await get('/v1/jobs')).body.jobs).toMatchObject([{ id: first }])
    expect((await get('/v1/jobs?table=asr_jobs')).body.jobs).toMatchObject([{ id: second }])
  })

  it('OPS-9 leases, queues and health are those of all', async () => {
    for (const { store } of deployment.tables)
      await store.claimJobs({ workerId: 'w', queues: ['clip', 'asr'], limit: 1 })
    const { leases } = (await get('/v1/leases')).body
    expect(leases).toMatchObject([{ table: 'jobs' }, { table: 'asr_jobs' }])
    expect((await get('/v1/leases?limit=1')).body).toMatchObject({ is_complete: false })
    expect((await get('/v1/health')).body.tables).toMatchObject([{ table: 'jobs' }, { table: 'asr_jobs' }])
    expect((await get('/v1/queues')).body.queues).toMatchObject([{ queue: 'clip' }, { queue: 'asr' }])
  })
})
