import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}.mjs`, import.meta.url))
const app = fixture('development-app')
const worker = fixture('development-worker')
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unstuck-development-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function start(env: Record<string, string> = {}, program = app): ChildProcess {
  return spawn(process.execPath, [program], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

/** Report of the child process, after it has ended by itself. */
async function report(child: ChildProcess): Promise<Record<string, unknown>> {
  let stdout = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  await once(child, 'close')
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}

describe('an application without DATABASE_URL', () => {
  it('OPS-8 gets an installed embedded PostgreSQL at its first query, one for the process, whose data stays', async () => {
    const first = await report(start())
    expect(first).toMatchObject({ startedBefore: 0, isShared: true, outcome: 'created', waiting: 1 })
    expect(first['lines']).toEqual(
      Array.from({ length: 2 }, () =>
        expect.stringMatching(
          /^DATABASE_URL is not set: an embedded PostgreSQL 18\S* in .*, for development only$/,
        ),
      ),
    )
    expect(await report(start())).toMatchObject({ outcome: 'created', waiting: 2 })
  })

  it('OPS-8 runs a handler with unstuck() alone, warns once about the database, and ends when it has stopped', async () => {
    const { name, warnings } = await report(start({}, worker))
    expect(name).toBe('Ana')
    expect(warnings).toEqual([expect.stringContaining('DATABASE_URL is not set: an embedded PostgreSQL')])
  })

  it('OPS-8 is refused in production', async () => {
    expect(await report(start({ NODE_ENV: 'production' }))).toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('DATABASE_URL: not set'),
    })
  })

  it('OPS-8 explains what to do if another process of the folder has the database', async () => {
    const first = start({ STAYS_UNTIL_INPUT_ENDS: '1' })
    const reported = report(first)
    await once(first.stdout ?? first, 'data')
    expect(await report(start())).toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('already running'),
      hint: expect.stringContaining('Set DATABASE_URL'),
    })
    first.stdin?.end()
    expect(await reported).toMatchObject({ outcome: 'created' })
  })
})
