// The end of every session of a server is no sign of dead workers (LEASE-10, C26): presence starts again with the next sighting.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { asAdmin } from '../../support/as-admin.ts'
import { PresenceBench } from '../../support/presence-bench.ts'

const folder = mkdtempSync(join(tmpdir(), 'unstuck-presence-'))
const dataDir = join(folder, 'data')
let server: PostgresServer
let bench: PresenceBench

const start = async (port?: number) => {
  server = await startPostgres({
    dataDir,
    port,
    settings: { fsync: 'off' },
    binaries: process.env['UNSTUCK_TEST_BINARIES'],
  })
}

beforeAll(async () => {
  await chmod(folder, 0o755)
  await start()
  await migrateUp({ databaseUrl: server.url, schema: 'unstuck', profile: nativeProfile('unstuck') })
  bench = new PresenceBench(server.url)
}, 60_000)
beforeEach(() => bench.reset())
afterEach(() => bench.endSessions())
afterAll(async () => {
  await bench?.pool.end()
  await server?.stop({ mode: 'immediate' })
  rmSync(folder, { recursive: true, force: true })
})

const startOf = () => readText('select pg_postmaster_start_time()::text as text')

async function readText(sql: string): Promise<string> {
  return (await bench.pool.query<{ text: string }>(sql)).rows[0]?.text ?? ''
}

/** As the kernel does where memory runs out: the server ends every session, recovers, and keeps its start time. */
async function killBackend(): Promise<void> {
  const startedAt = await startOf()
  const [victim, witness] = [await bench.connect('victim'), await bench.connect('witness')]
  const { rows } = await victim.query<{ pid: number }>('select pg_backend_pid() as pid')
  const isNoticed = new Promise((resolve) => witness.once('end', resolve))
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
  await isNoticed
  const isBack = () =>
    asAdmin(server.url, (admin) => admin.query('select 1')).then(
      () => true,
      () => false,
    )
  await expect.poll(isBack, { timeout: 30_000 }).toBe(true)
  expect(await startOf()).toBe(startedAt)
}

async function stopAtOnce(): Promise<void> {
  const { port } = server
  await server.stop({ mode: 'immediate' })
  await start(port)
}

/** The same data in a server that was a standby until now. */
async function promote(): Promise<void> {
  const { port } = server
  await server.stop()
  writeFileSync(join(dataDir, 'standby.signal'), '')
  await start(port)
  expect(await readText('select pg_is_in_recovery()::text as text')).toBe('true')
  await bench.pool.query('select pg_promote(true, 30)')
}

it.each([
  ['a killed backend', killBackend],
  ['an immediate stop', stopAtOnce],
  ['a promotion', promote],
])(
  'LEASE-10 C26 after %s nobody who was present before is gone, and who returns and dies is',
  async (_, endSessions) => {
    await bench.arrive('a')
    const id = await bench.claimAs('a')
    expect(await bench.look()).toBe(0)
    await endSessions()
    expect(await bench.lookForTheGrace()).toBe(0)
    expect(await bench.sweep()).toEqual([])
    for (const name of ['a', 'b', 'c']) await bench.arrive(name)
    await bench.look()
    await bench.die('a')
    expect(await bench.lookForTheGrace()).toBe(1)
    expect(await bench.sweep()).toMatchObject([{ id, reason: 'worker_gone' }])
  },
  60_000,
)

it('LEASE-10 C26 a worker whose absence began before a killed backend is not gone after it', async () => {
  await bench.arrive('a')
  await bench.claimAs('a')
  await bench.arrive('b')
  await bench.die('a')
  await bench.look()
  await bench.elapse(1_900)
  await killBackend()
  await bench.arrive('b')
  expect(await bench.lookForTheGrace()).toBe(0)
  expect(await bench.sweep()).toEqual([])
})

it('LEASE-10 C26 a worker that was gone before a killed backend is not judged after it', async () => {
  await bench.arrive('a')
  await bench.claimAs('a')
  await bench.die('a')
  expect(await bench.lookForTheGrace()).toBe(1)
  await killBackend()
  expect(await bench.sweep()).toEqual([])
})
