import { lstat, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { startPostgres } from '../index.ts'
import {
  type InstalledApp,
  installApp,
  processesIn,
  report,
  untilNothingRunsIn,
} from '../testing/installed-app.ts'
import { connect, query } from '../testing/query.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let app: InstalledApp
/** The watchdog's shell works from the folder of the binaries. */
let watchdogFolder: string

beforeAll(async () => {
  app = await installApp()
  watchdogFolder = join(app.folder, 'app', 'node_modules')
})

afterEach(() => app.killAll())
afterAll(() => app.remove())

it('the server shuts down cleanly when its parent is killed with SIGKILL, also with sessions open', async () => {
  const dataDir = join(app.folder, 'killed')
  const parent = app.launch({ dataDir })
  const { url } = await report(parent)
  const client = await connect(url)
  await client.query('create table kept as select 1 as id')
  expect((await processesIn(dataDir)).length).toBeGreaterThan(1)
  parent.kill('SIGKILL')
  await untilNothingRunsIn(dataDir, watchdogFolder)
  expect(await readdir(dataDir)).not.toContain('postmaster.pid')
  const lines: string[] = []
  await using server = await startPostgres({ dataDir, onLog: (line) => lines.push(line) })
  expect(lines.join('\n')).toContain('database system was shut down at')
  expect(await query(server.url, 'select id from kept')).toEqual([1])
})

it('the server shuts down cleanly when its parent dies of EPIPE', async () => {
  const dataDir = join(app.folder, 'broken-pipe')
  const parent = app.launch({ dataDir }, {}, 'chatty')
  await report(parent)
  parent.stdout?.destroy()
  await untilNothingRunsIn(dataDir, watchdogFolder)
  expect(await readdir(dataDir)).not.toContain('postmaster.pid')
})

it('temporary data goes when the parent is killed', async () => {
  const parent = app.launch({ persistent: false })
  const { dataDir } = await report(parent)
  parent.kill('SIGKILL')
  await untilNothingRunsIn(dataDir, watchdogFolder)
  expect(await lstat(dirname(dataDir)).catch((error: unknown) => error)).toMatchObject({ code: 'ENOENT' })
})

it('the next start can follow a killed parent at once, on the same port', async () => {
  const dataDir = join(app.folder, 'killed')
  const parent = app.launch({ dataDir })
  const { port } = await report(parent)
  parent.kill('SIGKILL')
  await using server = await startPostgres({ dataDir, port })
  expect(await query(server.url, 'select 1')).toEqual([1])
})

it('a data directory that a killed parent left half made does not get in the way', async () => {
  const dataDir = join(app.folder, 'half')
  const parent = app.launch({ dataDir })
  const draft = expect.stringMatching(/^half\.init-[\w-]+$/)
  await vi.waitFor(async () => expect(await readdir(app.folder)).toContainEqual(draft), {
    interval: 5,
    timeout: 30_000,
  })
  parent.kill('SIGKILL')
  await using server = await startPostgres({ dataDir })
  expect(await query(server.url, 'select 1')).toEqual([1])
})
