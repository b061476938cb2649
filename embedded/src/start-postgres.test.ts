import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresServer, type StartPostgresOptions, startPostgres } from './index.ts'
import { nobody } from './server/run-as.ts'
import { spawnIdentity } from './server/run-program.ts'
import { connect, query } from './testing/query.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const isRoot = process.getuid?.() === 0
const servers: PostgresServer[] = []
const companions: ChildProcess[] = []
let folder: string
let dataDir: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unstuck-test-'))
  await chmod(folder, 0o755)
  dataDir = join(folder, 'data')
})

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop({ mode: 'immediate' })
  for (const companion of companions.splice(0)) companion.kill('SIGKILL')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function start(options: StartPostgresOptions = {}): Promise<PostgresServer> {
  const server = await startPostgres({ dataDir, ...options })
  servers.push(server)
  return server
}

/** Returns the error of an attempt, and throws if there is none. */
async function failure(attempt: Promise<unknown>): Promise<{ code?: unknown; message: string }> {
  const [outcome] = await Promise.allSettled([attempt])
  if (outcome.status === 'rejected' && outcome.reason instanceof Error) return outcome.reason
  throw new Error('It did not fail.')
}

describe('a started server', () => {
  it('answers on 127.0.0.1 alone, to the password in its URL alone', async () => {
    const server = await start()
    expect(
      await query(
        server.url,
        `select string_agg(name || '=' || setting, ' ' order by name) from pg_settings
      where name in ('listen_addresses', 'unix_socket_directories', 'port', 'server_encoding')`,
      ),
    ).toEqual([
      `listen_addresses=127.0.0.1 port=${server.port} server_encoding=UTF8 unix_socket_directories=`,
    ])
    const otherPassword = new URL(server.url)
    otherPassword.password = 'postgres'
    expect(await failure(query(otherPassword.href, 'select 1'))).toMatchObject({ code: '28P01' })
    const { mode } = await stat(`${dataDir}.password`)
    expect(mode & 0o777).toBe(0o600)
  })

  it('says who it is', async () => {
    const server = await start()
    expect(await query(server.url, 'show server_version')).toEqual([server.version])
    expect(server.dataDir).toBe(dataDir)
    expect(await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).toMatch(new RegExp(`^${server.pid}\n`))
  })

  it('uses the settings of the caller and refuses those the launcher lives on', async () => {
    const server = await start({ settings: { max_connections: '7', 'unstuck.note': 'a b' } })
    expect(
      await query(server.url, `select current_setting('max_connections') || current_setting('unstuck.note')`),
    ).toEqual(['7a b'])
    for (const settings of [
      { PORT: '1' },
      { 'listen-addresses': '*' },
      { log_min_messages: 'panic' },
      { 'a b': '1' },
    ]) {
      expect(await failure(start({ settings }))).toMatchObject({ code: 'BAD_OPTION' })
    }
    expect(await failure(start({ port: 1.5 }))).toMatchObject({ code: 'BAD_OPTION' })
  })

  it('hands every log line to the caller, to the last', async () => {
    const lines: string[] = []
    const server = await start({ onLog: (line) => lines.push(line) })
    await server.stop()
    expect(lines.some((line) => line.includes('ready to accept connections'))).toBe(true)
    expect(lines.at(-1)).toContain('database system is shut down')
  })

  it('adds no listener to the process', async () => {
    const listeners = (): unknown[] => process.eventNames().map((name) => [name, process.listenerCount(name)])
    const before = listeners()
    const server = await start()
    expect(listeners()).toEqual(before)
    await server.stop()
    expect(listeners()).toEqual(before)
  })
})

describe('stopping and starting again', () => {
  it('keeps rows across a clean stop, on the same port when asked', async () => {
    const first = await start()
    await query(first.url, 'create table kept as select 1 as id')
    await first.stop()
    await first.stop()
    await first.ended
    expect(await readdir(dataDir)).not.toContain('postmaster.pid')
    const second = await start({ port: first.port })
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'select id from kept')).toEqual([1])
  })

  it.each([
    ['an immediate stop', (server: PostgresServer) => server.stop({ mode: 'immediate' })],
    ['a kill -9 of the server', (server: PostgresServer) => server.kill()],
  ])('recovers what was committed before %s', async (_, crash) => {
    const first = await start()
    await query(first.url, 'create table if not exists committed as select 2 as id')
    const open = await connect(first.url)
    await open.query('begin; insert into committed values (3)')
    await crash(first)
    const lines: string[] = []
    const second = await start({ port: first.port, onLog: (line) => lines.push(line) })
    expect(lines.join('\n')).toContain('was not properly shut down; automatic recovery in progress')
    expect(await query(second.url, 'select id from committed')).toEqual([2])
  })

  it('makes a fast stop immediate when a session does not end in time', async () => {
    const server = await start()
    const client = await connect(server.url)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    process.kill(rows[0]?.pid ?? Number.NaN, 'SIGSTOP')
    await server.stop({ timeoutMs: 100 })
    const lines: string[] = []
    await start({ onLog: (line) => lines.push(line) })
    expect(lines.join('\n')).toContain('was not properly shut down')
  })

  it('is disposed of by await using', async () => {
    let disposed: PostgresServer
    {
      await using server = await startPostgres({ dataDir })
      disposed = server
    }
    expect(await failure(query(disposed.url, 'select 1'))).toMatchObject({ code: 'ECONNREFUSED' })
  })
})

describe('a data directory', () => {
  it('is removed at stop when temporary, but survives a crash until then', async () => {
    const server = await start({ dataDir: undefined, persistent: false })
    await server.kill()
    expect(await readdir(server.dataDir)).toContain('postmaster.pid')
    const again = await start({ dataDir: server.dataDir })
    await server.stop()
    expect(await query(again.url, 'select 1')).toEqual([1])
    await again.stop()
    await server.stop()
    expect(await failure(stat(dirname(server.dataDir)))).toMatchObject({ code: 'ENOENT' })
  })

  it('can be named and still be temporary, unless it holds something', async () => {
    const named = join(folder, 'named')
    await mkdir(named)
    const server = await start({ dataDir: named, persistent: false })
    await server.stop()
    expect((await readdir(folder)).filter((name) => name.startsWith('named'))).toEqual([])
    expect(await failure(start({ persistent: false }))).toMatchObject({ code: 'DATA_DIR_UNUSABLE' })
    expect(await readdir(dataDir)).toContain('PG_VERSION')
  })

  it('serves one server: a second start names the process that has it', async () => {
    const server = await start()
    const second = await failure(start())
    expect(second).toMatchObject({ code: 'ALREADY_RUNNING' })
    expect(second.message).toContain(`pid ${server.pid}, port ${server.port}`)
  })

  it('goes to one of two processes that create it at once', async () => {
    const shared = join(folder, 'shared')
    const attempts = await Promise.allSettled([start({ dataDir: shared }), start({ dataDir: shared })])
    const started = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
    const refused = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []))
    expect(started).toHaveLength(1)
    expect(await query(started[0]?.url ?? '', 'select 1')).toEqual([1])
    expect(refused).toMatchObject([
      { code: 'ALREADY_RUNNING', message: expect.stringContaining(`pid ${started[0]?.pid}`) },
    ])
    expect((await readdir(folder)).filter((name) => name.startsWith('shared')).sort()).toEqual([
      'shared',
      'shared.password',
    ])
  })

  it.each([
    ['another program', 'echo $$; exec sleep 600'],
    // It ends when its parent is a program that waits for nobody: a shell might still have done so.
    [
      'a zombie',
      `sh -c 'until grep -q sleep /proc/$PPID/comm; do :; done; exec sleep 0' & echo $!; exec sleep 600`,
    ],
  ])('is usable when the process id of its crashed server now belongs to %s', async (_, script) => {
    await (await start()).kill()
    const runAs = isRoot ? await nobody() : undefined
    const companion = spawn('/bin/sh', ['-c', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
      ...spawnIdentity(runAs),
    })
    companions.push(companion)
    const pid = Number(String((await once(companion.stdout, 'data'))[0]))
    const state = async (): Promise<string> => readFile(`/proc/${pid}/stat`, 'utf8')
    if (script.includes('$!')) await expect.poll(state).toContain(') Z ')
    const lock = join(dataDir, 'postmaster.pid')
    await writeFile(lock, (await readFile(lock, 'utf8')).replace(/^\d+/, String(pid)))
    const server = await start()
    expect(await query(server.url, 'select 1')).toEqual([1])
    expect(await state()).toContain(`${pid} (sleep)`)
  })

  it('of another PostgreSQL, of another program or with an open password file is left alone', async () => {
    const other = join(folder, 'other')
    await mkdir(other)
    await writeFile(join(other, 'PG_VERSION'), '17\n')
    expect(await failure(start({ dataDir: other }))).toMatchObject({ code: 'DATA_DIR_UNUSABLE' })
    await writeFile(`${other}.password`, 'known', { mode: 0o644 })
    expect(await failure(start({ dataDir: other }))).toMatchObject({ code: 'UNTRUSTED_FOLDER' })
    await chmod(`${other}.password`, 0o600)
    const mismatch = await failure(start({ dataDir: other }))
    expect(mismatch).toMatchObject({ code: 'DATA_DIR_UNUSABLE' })
    expect(mismatch.message).toContain('made by PostgreSQL 17')
    expect(await readdir(other)).toEqual(['PG_VERSION'])
  })
})

describe('a start that fails', () => {
  it('names a port that is taken', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const address = squatter.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const taken = await failure(start({ port }))
    squatter.close()
    expect(taken).toMatchObject({ code: 'PORT_TAKEN' })
    expect(taken.message).toContain(`Port ${port} `)
  })

  it('reports what PostgreSQL said', async () => {
    const refused = await failure(start({ settings: { max_connections: 'many' } }))
    expect(refused).toMatchObject({ code: 'START_FAILED' })
    expect(refused.message).toContain('invalid value for parameter "max_connections"')
  })

  it('is given up by its signal while the data is made, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const dataDir = join(folder, 'aborted')
    const outcome = failure(start({ dataDir, persistent: false, signal: controller.signal }))
    const draft = expect.stringMatching(/^aborted\.init-[\w-]+$/)
    await vi.waitFor(async () => expect(await readdir(folder)).toContainEqual(draft), {
      timeout: 30_000,
      interval: 5,
    })
    controller.abort(new Error('no longer wanted'))
    expect(await outcome).toMatchObject({ message: 'no longer wanted' })
    expect((await readdir(folder)).filter((name) => name.startsWith('aborted'))).toEqual([])
  })

  it('is given up by its signal while the server starts, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const dataDir = join(folder, 'aborted')
    const onLog = (line: string): void => {
      if (line.includes('starting PostgreSQL')) controller.abort(new Error('no longer wanted'))
    }
    const outcome = await failure(start({ dataDir, persistent: false, signal: controller.signal, onLog }))
    expect(outcome).toMatchObject({ message: 'no longer wanted' })
    expect((await readdir(folder)).filter((name) => name.startsWith('aborted'))).toEqual([])
  })
})
