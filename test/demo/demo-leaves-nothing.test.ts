// However the demo ends, it leaves no process, no port and nothing in another database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../cli/support/run-command.ts'
import { openHttpBench } from '../http/http-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { descendantsOf, isListening, type RunningDemo, startDemo, untilGone } from './demo-command.ts'

const LIMIT_MS = 120_000

async function startedDemo(
  args: string[] = [],
): Promise<{ demo: RunningDemo; port: number; pids: number[] }> {
  const demo = startDemo(['--port', '0', ...args])
  await demo.said('workers on each side')
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(demo.lines.join('\n'))?.[1])
  expect(await isListening(port)).toBe(true)
  return { demo, port, pids: descendantsOf(demo.pid) }
}

describe('the end of a demo', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'WORK-4 %s leaves no process and no port',
    { timeout: LIMIT_MS },
    async (signal) => {
      const { demo, port, pids } = await startedDemo()
      // At least six workers, the reaper and PostgreSQL.
      expect(pids.length).toBeGreaterThanOrEqual(8)
      demo.kill(signal)
      const { exitCode, stdout } = await demo.result
      expect(exitCode).toBe(signal === 'SIGKILL' ? null : 130)
      expect(stdout).toBe('')
      await untilGone(pids)
      expect(await isListening(port)).toBe(false)
    },
  )

  it('WORK-4 a frozen worker does not outlive a demo that was killed', { timeout: LIMIT_MS }, async () => {
    const { demo, pids } = await startedDemo()
    await demo.said('SIGSTOP')
    const all = [...new Set([...pids, ...descendantsOf(demo.pid)])]
    demo.kill('SIGKILL')
    await demo.result
    await untilGone(all)
  })
})

describe('a button of the dashboard', () => {
  it('SEE-5 kills a real worker, from a page of this server only', { timeout: LIMIT_MS }, async () => {
    const { demo, port } = await startedDemo(['--speed', '0.1'])
    const url = `http://127.0.0.1:${port}`
    const { acts } = (await (await fetch(`${url}/demo`)).json()) as { acts: { name: string }[] }
    expect(acts.map(({ name }) => name)).toEqual(['kill', 'freeze', 'block', 'gateway', 'poison', 'down'])

    const elsewhere = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await fetch(`${url}/demo/kill`, { method: 'POST', headers: elsewhere })).status).toBe(403)
    expect((await fetch(`${url}/demo/nuke`, { method: 'POST' })).status).toBe(404)

    const ownPage = { origin: url, 'sec-fetch-site': 'same-origin', 'x-unstuck': '1' }
    expect((await fetch(`${url}/demo/kill`, { method: 'POST', headers: ownPage })).status).toBe(202)
    await demo.said('kill -9')
    await demo.said('after its last heartbeat')
    demo.kill('SIGTERM')
    await demo.result
  })

  it('SEE-5 does not exist on any other server', async () => {
    const bench = await openHttpBench()
    try {
      const as = 'admin'
      expect((await bench.call('GET /demo', { as })).status).toBe(404)
      expect((await bench.call('POST /demo/kill', { as })).status).toBe(404)
    } finally {
      await bench.close()
    }
  })
})

describe('the database of a demo', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  it('OPS-5 one’s own server gets everything back', { timeout: LIMIT_MS }, async () => {
    const schemas = async () => {
      const { rows } = await database.pool.query("select nspname from pg_namespace where nspname ~ 'unstuck'")
      return rows.map(({ nspname }) => String(nspname))
    }
    const demo = startDemo(['--no-serve', '--database-url', database.url])
    await demo.said('workers on each side')
    expect(await schemas()).toHaveLength(2)
    demo.kill('SIGTERM')
    const { stderr } = await demo.result
    expect(stderr).not.toContain('not cleaned up')
    expect(await schemas()).toEqual([])
  })

  it('OPS-8 a server that does not answer is exit code 3 and one line', async () => {
    const args = ['demo', '--no-tui', '--database-url', 'postgres://nobody@127.0.0.1:1/none']
    const { exitCode, stderr } = await runCommand(args)
    expect(exitCode).toBe(3)
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2)
  })

  it('OPS-8 without the embedded package it says how to get a database', async () => {
    const hook = `export async function resolve(name, context, next) {
      if (name === "@unstuck/embedded") throw new Error("not installed")
      return next(name, context)
    }`
    const register = `import { register } from 'node:module'
      register('data:text/javascript,${encodeURIComponent(hook)}')`
    const { exitCode, stderr } = await runCommand(['demo', '--no-tui'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(register)}`,
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('unstuck: no database: @unstuck/embedded is not installed\n')
    expect(stderr).toContain('unstuck demo --database-url')
  })

  it('OPS-8 a missing folder for temporary files is explained in one line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'unstuck-'))
    rmSync(folder, { recursive: true })
    const { exitCode, stderr } = await runCommand(['demo', '--no-tui'], { TMPDIR: folder })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`unstuck: the demo cannot write to ${folder}\n`)
    expect(stderr.trim().split('\n')).toHaveLength(2)
  })
})
