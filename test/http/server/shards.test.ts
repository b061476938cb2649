// The API and the command line over two shards on servers of their own, with one of them killed and restarted.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shardTables } from '../../../src/commands/shard-tables.ts'
import { type Deployment, openDeployment } from '../../../src/compose/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { type BuiltApp, buildApp } from '../../../src/http/app.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { createPostgresAccess } from '../../../src/store/postgres/ports/access.ts'
import { shardNumberOf } from '../../../src/store/shards.ts'
import { runInProcess } from '../../cli/support/in-process.ts'
import { type ShardServers, startShardServers } from '../../support/shard-servers.ts'

/** The fields of any answer that are looked at here. */
interface Body {
  jobs: { id: string }[]
  next_cursor: string | null
  tables: { table: string; waiting: number; silent_shards: string[] }[]
  is_healthy: boolean
  entries: { type: string; job_id: string }[]
  operation: { id: string; state: string }
  operations: object[]
  detail: string
  outcome: string
}

let servers: ShardServers
let deployment: Deployment
let app: BuiltApp
const pools = new Map<number, pg.Pool>()
const idOf: string[] = []

beforeAll(async () => {
  servers = await startShardServers()
  const config = loadConfig({ env: { UNSTUCK_SHARDS: servers.urls.join(' ') } })
  deployment = openDeployment(config)
  const { tables, access, reading, live } = deployment
  app = buildApp({ tables, access, reading, live, config, isOpenToLoopback: true })
  for (const { store } of shardTables(tables)) {
    const jobs = await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }])
    idOf.push(String(jobs[0]?.jobId))
  }
}, 120_000)

afterAll(async () => {
  await app.close()
  await deployment.close()
  await Promise.all(Array.from(pools.values(), (pool) => pool.end()))
  await servers.close()
})

async function request(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await app.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { host: '127.0.0.1', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    { remoteAddress: '127.0.0.1' } as never,
  )
  const text = await response.text()
  return {
    status: response.status,
    silent: response.headers.get('unstuck-silent-shards'),
    body: (text === '' ? {} : JSON.parse(text)) as Body,
  }
}

const accessOf = (number: number) => {
  const [table] = nativeProfile('unstuck').tables
  const client = pools.get(number) ?? new pg.Pool({ connectionString: servers.urls[number] })
  client.on('error', () => {})
  pools.set(number, client)
  return createPostgresAccess({ client, table, schema: 'unstuck' })
}
const isRevokedIn = async (number: number, name: string) => {
  const token = (await accessOf(number).listTokens()).find((each) => each.name === name)
  return token === undefined ? undefined : token.revokedAt !== null
}
const cli = (...args: string[]) => runInProcess(args, { UNSTUCK_SHARDS: servers.urls.join(' ') })
const isSecond = /^shard 1 \(127\.0\.0\.1:\d+\/postgres unstuck\)$/

async function backAgain(): Promise<void> {
  await servers.restartSecond()
  await expect.poll(async () => (await request('GET', '/v1/queues')).silent, { timeout: 30_000 }).toBeNull()
}

describe('the API over shards', () => {
  it('OPS-15 merges the pages of a list, newest first, each job once', async () => {
    const ids: string[] = []
    let path = '/v1/jobs?limit=3'
    for (;;) {
      const { body } = await request('GET', path)
      ids.push(...body.jobs.map(({ id }) => id))
      if (body.next_cursor === null) break
      path = `/v1/jobs?limit=3&cursor=${encodeURIComponent(body.next_cursor)}`
    }
    expect(new Set(ids).size).toBe(4)
    expect(ids).toHaveLength(4)
    expect(new Set(ids.map(shardNumberOf))).toEqual(new Set([0, 1]))
  })

  it('OPS-15 sums the counts, and lists the jobs of one shard by its name', async () => {
    const { body } = await request('GET', '/v1/health')
    expect(body.tables.map(({ table, waiting }) => ({ table, waiting }))).toEqual([
      { table: 'jobs', waiting: 4 },
    ])
    const one = await request('GET', '/v1/jobs?table=jobs:1')
    expect(one.body.jobs.map(({ id }) => shardNumberOf(id))).toEqual([1, 1])
    expect((await request('GET', '/v1/jobs?table=jobs:7')).status).toBe(404)
  })

  it('OPS-15 sends a change of a job to its shard, and records it in the merged audit log', async () => {
    for (const id of idOf) {
      const { status, body } = await request('POST', `/v1/jobs/${id}/cancel`, { reason: 'test' })
      expect({ status, outcome: body.outcome }).toEqual({ status: 200, outcome: 'cancelled' })
    }
    const { body } = await request('GET', '/v1/audit?limit=10')
    const cancelled = body.entries.filter(({ type }) => type === 'cancelled')
    expect(new Set(cancelled.map(({ job_id: id }) => id))).toEqual(new Set(idOf))
  })

  it('OPS-15 does not find a job of a shard that does not exist', async () => {
    const unknown = `${idOf[0]?.slice(0, 20)}009${idOf[0]?.slice(23)}`
    expect((await request('GET', `/v1/jobs/${unknown}`)).status).toBe(404)
    expect((await request('POST', `/v1/jobs/${unknown}/cancel`, {})).status).toBe(404)
  })

  it('OPS-15 runs an operation in one shard at a time, and says which there are', async () => {
    const operation = { action: 'cancel', q: 'status:waiting type:asr' }
    const refused = await request('POST', '/v1/operations', operation)
    expect(refused.status).toBe(400)
    expect(refused.body.detail).toBe('table: takes one shard: jobs:0, jobs:1')
    const begun = await request('POST', '/v1/operations', { ...operation, table: 'jobs:1' })
    const { id } = begun.body.operation
    expect(begun.body.operation).toMatchObject({ table: 'jobs:1', total: 1 })
    app.runOperations()
    const isDone = async () => (await request('GET', `/v1/operations/${id}`)).body.operation.state
    await expect.poll(isDone, { timeout: 30_000 }).toBe('done')
    const { body } = await request('GET', '/v1/operations')
    expect(body.operations).toHaveLength(1)
    expect((await request('GET', '/v1/health')).body.tables[0]?.waiting).toBe(1)
  })

  it('OPS-15 pauses a queue in every shard', async () => {
    await request('POST', '/v1/queues/asr/pause', {})
    const paused = await Promise.all(
      shardTables(deployment.tables).map(async ({ store }) => (await store.listQueues()).queues[0]?.isPaused),
    )
    expect(paused).toEqual([true, true])
    await request('POST', '/v1/queues/asr/resume', {})
  })
})

describe('with a shard that is down', () => {
  it('OPS-15 answers for the others, names the silent one, and is not healthy', {
    timeout: 120_000,
  }, async () => {
    await servers.killSecond()
    const jobs = await request('GET', '/v1/jobs')
    expect(jobs.status).toBe(200)
    expect(jobs.silent).toMatch(isSecond)
    expect(jobs.body.jobs.map(({ id }) => shardNumberOf(id))).toEqual([0, 0])
    const health = await request('GET', '/v1/health')
    expect({ status: health.status, is: health.body.is_healthy }).toEqual({ status: 200, is: false })
    expect(health.body.tables[0]?.silent_shards).toEqual([expect.stringMatching(isSecond)])
    // A job of the other shard is found without asking the one that is down.
    const found = await request('GET', `/v1/jobs/${idOf[0]}`)
    expect({ status: found.status, silent: found.silent }).toEqual({ status: 200, silent: null })
    expect((await request('GET', `/v1/jobs/${idOf[1]}`)).status).toBe(503)
    expect((await request('POST', `/v1/jobs/${idOf[1]}/cancel`, {})).status).toBe(503)
    for (const path of ['/v1/operations', '/v1/webhooks', '/v1/trends', '/v1/workers']) {
      const { status, silent } = await request('GET', path)
      expect({ path, status, silent }).toEqual({ path, status: 200, silent: expect.stringMatching(isSecond) })
    }

    const list = await cli('jobs', 'list')
    expect(list.exitCode).toBe(1)
    expect(list.stdout).toContain(String(idOf[0]))
    expect(list.stderr).toMatch(/warning: shard 1 \(.*\) did not answer: its jobs are missing here/)
    const events = await cli('events')
    expect(events.exitCode).toBe(1)
    expect(events.stderr).toMatch(/warning: shard 1 /)
    // The job may be there.
    const unknown = await cli('why', 'ffffffff')
    expect(unknown.exitCode).not.toBe(0)
    expect(unknown.stderr).toMatch(/warning: shard 1 /)
    const status = await cli('status')
    expect(status.exitCode).toBe(1)
    expect((await cli('top', '--once')).stdout).toMatch(/✗ shard 1 \(.*\) does not answer/)
    // The operation may be there.
    const operation = await request('GET', '/v1/operations/018bcfe5-6800-71f7-8001-ebae96331207')
    expect(operation.status).toBe(503)
    const doctor = await cli('doctor', '--json')
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(
      expect.objectContaining({
        check: 'connection',
        level: 'problem',
        message: expect.stringMatching(/^shard 1: /),
      }),
    )
    const prune = await cli('prune', '--json')
    expect(JSON.parse(prune.stdout).tables).toEqual([expect.objectContaining({ table: 'jobs:0' })])
    expect(prune.exitCode).not.toBe(0)
    expect(prune.stderr).toContain('jobs:1: ')
    const reap = await cli('reap', '--once')
    expect(reap.exitCode).toBe(1)
    expect(reap.stderr).toMatch(/warning: shard 1 /)
    await backAgain()
    expect((await request('GET', '/v1/jobs')).body.jobs).toHaveLength(4)
    expect((await request('GET', `/v1/jobs/${idOf[1]}`)).status).toBe(200)
  })

  it('OPS-15 refuses a token that not every shard would know, and names the shard', {
    timeout: 120_000,
  }, async () => {
    await servers.killSecond()
    const { exitCode, stderr } = await cli('tokens', 'create', 'ops', '--role', 'viewer')
    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(/not applied to shard 1/)
    await backAgain()
    await cli('tokens', 'revoke', 'ops')
    const created = await cli('tokens', 'create', 'ops-2', '--role', 'viewer', '--json')
    expect(created.exitCode).toBe(0)
    const { secret } = JSON.parse(created.stdout)
    await servers.killSecond()
    const { status } = await request('GET', '/v1/jobs', undefined, { authorization: `Bearer ${secret}` })
    expect(status).toBe(200)
    await backAgain()
    expect((await cli('tokens', 'revoke', 'ops-2')).exitCode).toBe(0)
  })

  it('OPS-15 a token that any shard has revoked is refused, and the shard that was down revokes it', {
    timeout: 120_000,
  }, async () => {
    const secretOf = async (name: string): Promise<string> => {
      const { stdout } = await cli('tokens', 'create', name, '--role', 'viewer', '--json')
      return JSON.parse(stdout).secret
    }
    const statusWith = async (secret: string) =>
      (await request('GET', '/v1/jobs', undefined, { authorization: `Bearer ${secret}` })).status
    const [late, early] = [await secretOf('late'), await secretOf('early')]
    expect([await statusWith(late), await statusWith(early)]).toEqual([200, 200])

    await servers.killSecond()
    const revoked = await cli('tokens', 'revoke', 'late')
    expect(revoked.exitCode).not.toBe(0)
    expect(revoked.stderr).toMatch(/not applied to shard 1/)
    expect(await statusWith(late)).toBe(401)
    await backAgain()
    expect(await isRevokedIn(1, 'late')).toBe(false)
    const checked = async () => ({ status: await statusWith(late), isTold: await isRevokedIn(1, 'late') })
    expect((await checked()).status).toBe(401)
    // Slowly: attempts with a wrong token are limited.
    await expect.poll(checked, { timeout: 30_000, interval: 1_000 }).toEqual({ status: 401, isTold: true })

    // The same for the shard that is asked first.
    expect(await accessOf(1).revokeToken('early', 'test')).toBe(true)
    expect(await statusWith(early)).toBe(401)
    expect(await isRevokedIn(0, 'early')).toBe(true)
  })

  it('OPS-15 a shard that was added later, and knows no tokens yet, refuses nobody', async () => {
    const { stdout } = await cli('tokens', 'create', 'former', '--role', 'viewer', '--json', '--shard', '0')
    const authorization = `Bearer ${JSON.parse(stdout).secret}`
    expect((await request('GET', '/v1/jobs', undefined, { authorization })).status).toBe(200)
    expect(await accessOf(0).revokeToken('former', 'test')).toBe(true)
    expect((await request('GET', '/v1/jobs', undefined, { authorization })).status).toBe(401)
  })
})

describe('the command line over shards', () => {
  it('OPS-15 changes jobs by a filter in each shard, and by id in its own', async () => {
    const ids: string[] = []
    for (const { store } of shardTables(deployment.tables)) {
      const jobs = await store.enqueueJobs([{ type: 'bulk' }, { type: 'single' }])
      ids.push(String(jobs[1]?.jobId))
    }
    const bulk = await cli('jobs', 'cancel', '--where', 'type:bulk', '--yes', '--json', '--reason', 'test')
    const { tables } = JSON.parse(bulk.stdout) as { tables: { table: string; changed: number }[] }
    expect(tables.map(({ table, changed }) => ({ table, changed }))).toEqual([
      { table: 'jobs:0', changed: 1 },
      { table: 'jobs:1', changed: 1 },
    ])
    const one = await cli('jobs', 'cancel', String(ids[1]), '--yes', '--json', '--reason', 'test')
    expect(JSON.parse(one.stdout).jobs).toEqual([{ table: 'jobs', jobId: ids[1], outcome: 'cancelled' }])
  })

  it('OPS-15 shows the events of all shards, each once', async () => {
    const { stdout } = await cli('events', '--json', '--type', 'cancelled')
    const { events } = JSON.parse(stdout) as { events: { id: string; jobId: string }[] }
    const jobIds = events.map(({ jobId }) => jobId)
    expect(new Set(jobIds.map(shardNumberOf))).toEqual(new Set([0, 1]))
    const ids = events.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('OPS-15 sweeps and prunes every shard', async () => {
    const reap = await cli('reap', '--once', '--json')
    expect(reap.exitCode).toBe(0)
    const prune = await cli('prune', '--json')
    const { tables } = JSON.parse(prune.stdout) as { tables: { table: string }[] }
    expect(tables.map(({ table }) => table)).toEqual(['jobs:0', 'jobs:1'])
  })
})
