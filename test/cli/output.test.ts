// Output: events, exports, colours, and closed pipes.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { followEvents, latestEvents } from '../../src/cli/jobs/event-tail.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresAccess, createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { noTerminal, openTerminal } from './support/pseudo-terminal.ts'
import { runCommand, startCommand } from './support/run-command.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

const bin = fileURLToPath(new URL('../../bin/unstuck.js', import.meta.url))
let database: TestDatabase
let store: JobStore
const env = () => ({ DATABASE_URL: database.url })
const run = (...args: string[]) => runCommand(args, env())
const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line !== '')

beforeAll(async () => {
  database = await createInstalledDatabase()
  const profile = nativeProfile('unstuck')
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())
beforeEach(() => database.pool.query('truncate unstuck.jobs, unstuck.events'))

async function failOne(reason: string): Promise<string> {
  const [job] = await store.enqueueJobs([
    { type: 'asr', payload: { url: 'https://u:pw@h.example/a', token: 'hush', n: 1 } },
  ])
  const jobId = job?.jobId ?? ''
  const claimed = await store.claimJob(jobId, { workerId: 'w1' })
  if (claimed === 'not-claimable') throw new Error('not claimed')
  await store.failJobs([{ ...claimed, code: 'GW_5XX', reason, isRetryable: false }])
  return jobId
}

describe('events', () => {
  it.skipIf(noTerminal !== null).each([80, 200])(
    'SEE-3 in a terminal of %i columns they are relative in time, and break between words',
    async (columns) => {
      const jobId = await failOne('the gateway did not answer within the time that it was given, again')
      const terminal = openTerminal(['events'], { env: env(), columns })
      expect(await terminal.ended).toBe(0)
      const lines = stripVTControlCharacters(terminal.raw()).split('\r\n')
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      expect(lines[0]).toMatch(new RegExp(`^(now|\\d+ s ago) +${jobId}  failed`))
    },
  )

  it.skipIf(noTerminal !== null).each(['status', 'doctor'])(
    'OPS-8 %s breaks its sentences between words',
    async (command) => {
      const reason = 'the vendor asked us to stop until the migration of their billing is done'
      await store.pauseQueue('asr', { actor: 'ana', reason })
      const terminal = openTerminal([command], { env: env(), columns: 80 })
      await terminal.ended
      await store.resumeQueue('asr', { actor: 'ana' })
      const lines = stripVTControlCharacters(terminal.raw()).split('\r\n')
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
      expect(lines.join(' ').replace(/ +/g, ' ')).toContain(reason)
    },
  )

  it('SEE-3 shows the newest events, oldest first, without lease ids', async () => {
    const first = await failOne('a')
    const second = await failOne('b')
    const { exitCode, stdout } = await run('events')
    expect(exitCode).toBe(0)
    expect(linesOf(stdout).map((line) => line.split(/ {2,}/)[2])).toEqual([first, second])
    expect(stdout).toContain('failed')
    expect(stdout).not.toContain('lease_id')
    expect(linesOf((await run('events', '--limit', '1')).stdout)).toHaveLength(1)
    expect((await run('events', '--job', first.slice(0, 8), '--type', 'cancelled')).stdout).toBe(
      'no matching events\n',
    )
  })

  it('SEE-3 prints one object with --json, and one in a line with --jsonl', async () => {
    await failOne('Bearer abcdefgh12345678 was refused')
    const { events } = JSON.parse((await run('events', '--json')).stdout) as { events: unknown[] }
    const lines = linesOf((await run('events', '--jsonl')).stdout)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events)
    expect(events).toMatchObject([{ type: 'failed', table: 'jobs', details: { code: 'GW_5XX' } }])
    expect(lines[0]).not.toContain('abcdefgh')
  })

  it('SEE-3 --follow prints each new event once, until a signal', async () => {
    await failOne('before')
    const following = startCommand(['events', '--follow', '--jsonl'], env())
    await following.said('before')
    const ids: string[] = []
    for (const reason of ['one', 'two', 'three']) {
      ids.push(await failOne(reason))
      await following.said(reason)
    }
    following.kill('SIGTERM')
    const { exitCode, stdout } = await following.result
    expect(exitCode).toBe(0)
    const seen = linesOf(stdout).map((line) => (JSON.parse(line) as { jobId: string }).jobId)
    expect(seen.slice(1)).toEqual(ids)
  })

  it('SEE-3 --follow loses no event that is recorded while the past ones are printed', async () => {
    const access = createPostgresAccess({ client: database.pool, table: nativeProfile('unstuck').tables[0] })
    const stop = new AbortController()
    for (const reason of ['left out by the limit', 'printed']) await failOne(reason)
    const { events, position } = await latestEvents(access, 1, () => true)
    expect(events.map(({ data }) => data.details['reason'])).toEqual(['printed'])
    const between = await failOne('between')
    const following = followEvents(access, position, { fits: () => true, signal: stop.signal })
    expect(await following.next()).toMatchObject({ value: { jobId: between } })
    const last = await failOne('after')
    expect(await following.next()).toMatchObject({ value: { jobId: last } })
    stop.abort()
    expect(await following.next()).toMatchObject({ done: true })
  })

  it('SEE-3 Ctrl-C ends it with 130', async () => {
    await failOne('x')
    const following = startCommand(['events', '--follow'], env())
    await following.said('failed')
    following.kill('SIGINT')
    expect(await following.result).toMatchObject({ exitCode: 130 })
  })
})

describe('ids of leases', () => {
  it.each([
    ['jobs', 'get'],
    ['jobs', 'list'],
    ['dead', 'show'],
  ])('OPS-9 are credentials, which %s %s does not show', async (...words) => {
    const dead = await failOne('no')
    const [running] = await store.enqueueJobs([{ type: 'clip' }])
    const lease = await store.claimJob(running?.jobId ?? '', { workerId: 'w2' })
    if (lease === 'not-claimable') throw new Error('not claimed')
    const ids = [lease.leaseId, (await store.getJob(dead))?.finishedLeaseId ?? '']
    const [group] = (await store.groupDeadJobs()).groups
    const targets =
      words[0] === 'dead' ? [group?.causeId ?? ''] : words[1] === 'get' ? [dead, lease.jobId] : ['']
    for (const target of targets)
      for (const format of [[], ['--json']]) {
        const { exitCode, stdout } = await run(...words, ...[target].filter(Boolean), ...format)
        expect(exitCode).toBe(0)
        for (const id of ids) expect(stdout).not.toContain(id)
      }
  })
})

describe('jobs export', () => {
  it('OPS-9 takes secrets and ids of leases out, as the HTTP API does', async () => {
    await failOne('401 for Bearer abcdefgh12345678')
    const [running] = await store.enqueueJobs([{ type: 'clip' }])
    await store.claimJob(running?.jobId ?? '', { workerId: 'w2' })
    const { stdout } = await run('jobs', 'export', '--payload')
    const jobs = linesOf(stdout).map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(jobs[1]).toMatchObject({
      payload: { url: 'https://u:[redacted]@h.example/a', token: '[redacted]', n: 1 },
      error: { reason: '401 for Bearer [redacted]' },
    })
    for (const job of jobs) {
      expect(job).not.toHaveProperty('leaseId')
      expect(job).not.toHaveProperty('finishedLeaseId')
    }
  })

  it('OPS-9 writes CSV that spreadsheets read as text', async () => {
    await failOne('=HYPERLINK("x"), "two"\nlines')
    const { stdout } = await run('jobs', 'export', '--format', 'csv', '--payload')
    const [head = ''] = stdout.split('\r\n')
    expect(head).toMatch(/^table,id,type,.*,payload,result$/)
    expect(stdout).toContain(`"'=HYPERLINK(""x""), ""two""\nlines"`)
    expect(stdout).toContain('""token"":""[redacted]""')
    expect(stdout.endsWith('\r\n')).toBe(true)
  })

  it('OPS-9 CSV of nothing is its head', async () => {
    expect(linesOf((await run('jobs', 'export', '--format', 'csv')).stdout)).toHaveLength(1)
  })

  it('OPS-9 another format is refused with those there are', async () => {
    const { exitCode, stderr } = await run('jobs', 'export', '--format', 'xml')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('ndjson, csv')
  })
})

describe('a reader that leaves', () => {
  const inShell = (command: string) =>
    spawnSync('bash', ['--norc', '-c', `set -o pipefail; "$0" "$1" ${command}`, process.execPath, bin], {
      env: { PATH: process.env['PATH'] ?? '', ...env() },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    })

  it.each(['jobs export', 'jobs list --limit 1000', 'events --limit 1000'])(
    'OPS-8 unstuck %s | head -1 is no error',
    async (command) => {
      await database.pool.query(`select unstuck.enqueue_jobs(
        (select jsonb_agg(jsonb_build_object('type', 'asr', 'payload', repeat('x', 100))) from generate_series(1, 1000)))`)
      await failOne('x')
      const { status, stdout, stderr } = inShell(`${command} | head -1`)
      expect([status, stderr]).toEqual([0, ''])
      expect(linesOf(stdout)).toHaveLength(1)
    },
  )

  it('OPS-8 unstuck doctor keeps the exit code of its findings if the reader is gone', () => {
    const { status, stderr } = inShell('doctor --schema not_there | true')
    expect([status, stderr]).toEqual([1, ''])
  })

  it('OPS-8 does not end the work: unstuck migrate up 2>&1 | head -1 installs everything', async () => {
    const { status, stdout } = inShell('migrate up --schema piped 2>&1 | head -1')
    expect([status, linesOf(stdout).length]).toEqual([0, 1])
    expect((await run('status', '--schema', 'piped')).exitCode).toBe(0)
  })
})

// python3 brings the pseudo terminal.
describe.skipIf(noTerminal !== null)('colour', () => {
  const RED_OR_GREEN = /\[3[12]m/
  const doctorIn = async (more: Record<string, string>) => {
    const terminal = openTerminal(['doctor'], { env: { ...env(), ...more } })
    await terminal.ended
    return terminal.raw()
  }

  it('OPS-8 is there in a terminal, and not where it is unwanted', async () => {
    expect(await doctorIn({})).toMatch(RED_OR_GREEN)
    expect(await doctorIn({ NO_COLOR: '1' })).not.toMatch(RED_OR_GREEN)
    expect(await doctorIn({ TERM: 'dumb' })).not.toMatch(RED_OR_GREEN)
  })

  it('OPS-8 is not in a pipe, unless it is forced', async () => {
    expect((await run('doctor')).stdout).not.toMatch(RED_OR_GREEN)
    expect((await runCommand(['doctor'], { ...env(), FORCE_COLOR: '1' })).stdout).toMatch(RED_OR_GREEN)
  })
})

describe('questions', () => {
  const discard = (jobId: string) => ['jobs', 'discard', jobId, '--reason', 'test']

  it('OPS-8 without a terminal nothing is asked: it takes --yes', async () => {
    const jobId = await failOne('x')
    const { exitCode, stdout, stderr } = await run(...discard(jobId))
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Add --yes to confirm.')
    expect(await store.getJob(jobId)).not.toBeNull()
  })

  it.skipIf(noTerminal !== null)('OPS-8 in a terminal only a yes is one', async () => {
    const jobId = await failOne('x')
    const refused = openTerminal(discard(jobId), { env: env() })
    await refused.shown('Continue? [y/N]')
    refused.type('\r')
    expect(await refused.ended).toBe(4)
    expect(await store.getJob(jobId)).not.toBeNull()
    const done = openTerminal(discard(jobId), { env: env() })
    await done.shown('Continue? [y/N]')
    done.type('y\r')
    expect(await done.ended).toBe(0)
    expect(await store.getJob(jobId)).toBeNull()
  })
})
