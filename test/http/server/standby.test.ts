// Reads from a standby, and writes that meet one. The standby is a copy of the primary that receives nothing.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { type Deployment, openDeployment } from '../../../src/compose/index.ts'
import { type Config, loadConfig } from '../../../src/config/index.ts'
import { type BuiltApp, buildApp, documentInfo } from '../../../src/http/app.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { runInProcess } from '../../cli/support/in-process.ts'
import { readEventSource } from '../stream/event-source.ts'

let folder: string
let primary: PostgresServer
let standby: PostgresServer

const start = (name: string) =>
  startPostgres({ dataDir: join(folder, name), binaries: process.env['UNSTUCK_TEST_BINARIES'] })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-standby-'))
  chmodSync(folder, 0o711)
  primary = await start('primary')
  await migrateUp({ databaseUrl: primary.url, schema: 'unstuck', profile: nativeProfile('unstuck') })
  const deployment = openDeployment(configOf({ DATABASE_URL: primary.url }))
  await deployment.tables[0].store.enqueueJobs([{ type: 'copied' }])
  await deployment.close()
  await primary.stop()
  const copy = join(folder, 'standby')
  // Keeps owner and modes, which the server insists on.
  for (const suffix of ['', '.password']) spawnSync('cp', ['-a', primary.dataDir + suffix, copy + suffix])
  writeFileSync(join(copy, 'standby.signal'), '')
  ;[primary, standby] = [await start('primary'), await start('standby')]
}, 120_000)

afterAll(async () => {
  await standby?.stop({ mode: 'immediate' })
  await primary?.stop({ mode: 'immediate' })
  rmSync(folder, { recursive: true, force: true })
})

const configOf = (env: Record<string, string>): Config => loadConfig({ env })

function open(env: Record<string, string>): { app: BuiltApp; deployment: Deployment } {
  const config = configOf(env)
  const deployment = openDeployment(config)
  const app = buildApp({ ...deployment, config, isOpenToLoopback: true })
  onTestFinished(async () => {
    await app.close()
    await deployment.close()
  })
  return { app, deployment }
}

async function ask({ app }: { app: BuiltApp }, method: string, path: string, body?: unknown) {
  const headers = { 'content-type': 'application/json', 'x-unstuck': '1' }
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
  const response = await app.fetch(new Request(`http://127.0.0.1${path}`, init))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('a server that reads from a standby', () => {
  it('OPS-16 reads there, writes to the primary, and streams from it', async () => {
    const server = open({ DATABASE_URL: primary.url, UNSTUCK_READ_URL: standby.url })
    expect((await ask(server, 'POST', '/v1/jobs', { type: 'written' })).status).toBe(201)
    const { jobs } = (await ask(server, 'GET', '/v1/jobs')).body
    expect(jobs).toMatchObject([{ type: 'copied' }])
    expect((await ask(server, 'GET', '/v1/health')).body).toMatchObject({ tables: [{ waiting: 1 }] })
    const stream = await server.app.fetch(new Request('http://127.0.0.1/v1/stream?topics=counts'))
    const reader = readEventSource(stream)
    onTestFinished(() => reader.close())
    const counts = await reader.next(({ event }) => event === 'counts')
    expect(counts.data.tables).toMatchObject([{ waiting: 2 }])
  })

  it('OPS-16 answers every read from it', async () => {
    const server = open({ DATABASE_URL: primary.url, UNSTUCK_READ_URL: standby.url })
    const { paths = {} } = server.app.api.getOpenAPI31Document(documentInfo)
    const reads = Object.entries(paths).filter(
      ([path, item]) => item?.get !== undefined && path !== '/v1/stream' && path !== '/v1/doctor',
    )
    expect(reads.length).toBeGreaterThan(20)
    const failed: string[] = []
    for (const [path] of reads) {
      const address = path.replaceAll(/\{\w+\}/g, 'copied')
      const { status } = await server.app.fetch(new Request(`http://127.0.0.1${address}`))
      if (status >= 500) failed.push(`${address}: ${status}`)
    }
    expect(failed).toEqual([])
  })
})

describe('a write on a standby', () => {
  it('OPS-16 is refused by the HTTP API, which names the primary as the remedy', async () => {
    const server = open({ DATABASE_URL: standby.url })
    expect(await ask(server, 'POST', '/v1/jobs', { type: 'a' })).toMatchObject({
      status: 503,
      body: {
        code: 'DATABASE_READ_ONLY',
        detail: expect.stringContaining('standby'),
        hint: expect.stringContaining('DATABASE_URL must name the primary'),
        is_retryable: true,
      },
    })
  })

  it('OPS-16 is refused by the command line, while reads work', async () => {
    const env = { DATABASE_URL: standby.url }
    const paused = await runInProcess(['queues', 'pause', 'a', '--reason', 'deploy'], env)
    expect(paused.exitCode).toBe(3)
    expect(paused.stderr).toContain('the database takes no writes here')
    expect(paused.stderr).toContain('DATABASE_URL must name the primary')
    const listed = await runInProcess(['jobs', 'list'], env)
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('copied') })
  })
})
