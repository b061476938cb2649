// Mode observe on the tables of teams: whoever calls, and whatever runs, no row of theirs is changed by us.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCommand } from '../../cli/support/run-command.ts'
import { type CommandFolder, openCommandFolder } from '../../migrate/command-folder.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { cronWrappers, reclaim } from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'

let commands: CommandFolder
beforeEach(async () => {
  commands = await openCommandFolder()
})
afterEach(() => commands.close())

const rows = async (text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await commands.database.pool.query(text, params)).rows

/** With xmin: a row that was written again with the same values was written all the same. */
const snapshot = (table: string) => rows(`select xmin::text, job::text from ${table} job order by 2`)

async function expectUntouched(table: string, act: () => Promise<void>): Promise<void> {
  const before = await snapshot(table)
  await act()
  expect(await snapshot(table)).toEqual(before)
}

/** Rows and notices of one statement. */
async function call(text: string): Promise<{ rows: Record<string, unknown>[]; notices: string[] }> {
  const client = await commands.database.connect()
  const notices: string[] = []
  client.on('notice', ({ message = '' }) => notices.push(message))
  return { rows: (await client.query(text)).rows, notices }
}

const staleExecutorJob = `
  insert into public.executor_jobs (type, status, locked_at, locked_by, attempts)
  values ('run_tsa', 'running', now() - interval '35 minutes', 'dead-worker', 1) returning id`

describe('the executor in mode observe', () => {
  beforeEach(async () => {
    await commands.database.pool.query(executorTables + cronWrappers)
    await commands.run('migrate', 'up', '--profile', 'executor', '--phase', '1', '2', '3')
    await rows(staleExecutorJob)
  })
  const observe = () => commands.run('mode', 'observe', '--profile', 'executor')

  it('OPS-3 003 migrate up --phase starts in reap, as the document is written: cron requeues', async () => {
    await call('select public.process_orchestrator_jobs()')
    expect(await rows('select status from public.executor_jobs')).toEqual([{ status: 'queued' }])
  })

  it.each([
    ['process_orchestrator_jobs', 'orchestrator'],
    ['wake_execution_engine', 'fase1-executor'],
  ])(
    'OPS-14 OPS-3 003 %s(), which cron calls, reclaims nothing and goes on to the team’s own body',
    async (name, url) => {
      await observe()
      await expectUntouched('public.executor_jobs', async () => {
        const { notices } = await call(`select public.${name}()`)
        expect(notices).toEqual([
          expect.stringMatching(/executor_jobs is in mode observe.*unstuck mode reap --table executor_jobs/),
        ])
      })
      expect(await rows('select url from public.http_calls')).toEqual([{ url }])
    },
  )

  it('OPS-14 OPS-3 003 reclaim_stale_jobs() answers no row, and notes what it would take', async () => {
    await observe()
    await expectUntouched('public.executor_jobs', async () => {
      const answer = await call(reclaim)
      expect(answer).toEqual({ rows: [], notices: [expect.stringContaining('is in mode observe')] })
    })
    const { stdout } = await commands.run('mode', '--profile', 'executor')
    expect(stdout).toMatch(/would requeue +1 /)
  })

  it('OPS-14 OPS-3 003 update_job_heartbeat() of a worker without a lease writes nothing and answers NULL', async () => {
    const beat = `select public.update_job_heartbeat(id, locked_by) as is_own from public.executor_jobs`
    await observe()
    await expectUntouched('public.executor_jobs', async () => {
      const answer = await call(beat)
      expect(answer).toEqual({
        rows: [{ is_own: null }],
        notices: [expect.stringContaining('no heartbeat is written')],
      })
    })
    await commands.run('mode', 'reap', '--profile', 'executor')
    expect(await call(beat)).toEqual({ rows: [{ is_own: true }], notices: [] })
  })

  it('OPS-14 OPS-3 003 update_job_heartbeat() renews a lease that was granted before', async () => {
    await rows(`insert into public.executor_jobs (type) values ('build_artifact')`)
    const [claimed] = await rows(
      `select id from unstuck.claim_jobs__executor_jobs('worker-1', array['build_artifact'], 1)`,
    )
    const lease = () =>
      rows('select lease_expires_at from public.executor_jobs where id = $1', [claimed?.['id']])
    await observe()
    const before = await lease()
    expect(
      await rows(`select public.update_job_heartbeat($1, 'worker-1') as is_own`, [claimed?.['id']]),
    ).toEqual([{ is_own: true }])
    expect(await lease()).not.toEqual(before)
  })
})

const staleClipJob = `
  insert into jobs (id, status, last_heartbeat_at, started_at, updated_at, attempt_count)
  values ('00000000-0000-4000-8000-000000000001', 'processing', now() - interval '2 h', now() - interval '2 h',
          now() - interval '2 h', 1)`
const otherClipJobs = `
  insert into jobs (id, status, updated_at, attempt_count) values
    ('00000000-0000-4000-8000-000000000002', 'failed', now() - interval '90 days', 3),
    ('00000000-0000-4000-8000-000000000003', 'queued', now() - interval '1 h', 0)`

describe('the clip tables after unstuck attach', () => {
  const clip = (...args: string[]) => commands.run(...args, '--profile', 'clip')
  beforeEach(async () => {
    await commands.database.pool.query(clipTables)
    await rows(staleClipJob)
    await rows(otherClipJobs)
  })

  it('OPS-14 C29 it starts in observe, says so, and says how to go on', async () => {
    const { stdout } = await clip('attach')
    expect(stdout).toContain('public.jobs, public.asr_jobs: observe mode.')
    expect(stdout).toContain('unstuck mode reap')
    const modes = JSON.parse((await clip('mode', '--json')).stdout) as { tables: { mode: string }[] }
    expect(modes.tables.map(({ mode }) => mode)).toEqual(['observe', 'observe'])
    await clip('mode', 'reap', '--table', 'jobs')
    expect((await clip('attach')).stdout).not.toContain('in mode observe')
    const { stdout: status } = await clip('status')
    expect(status).toMatch(/^jobs · mode reap, set/m)
    expect(status).toMatch(/^asr_jobs · mode observe, set/m)
  })

  it('OPS-14 C29 so does its SQL where another tool runs it', async () => {
    const plan = await clip('attach', '--plan', '--json')
    const { steps } = JSON.parse(plan.stdout) as { steps: { statements: string[] }[] }
    for (const { statements } of steps) for (const statement of statements) await rows(statement)
    const { stdout } = await clip('mode')
    expect(stdout.match(/ observe /g)).toHaveLength(2)
  })

  it('OPS-14 what people type is refused with WRONG_MODE, the remedy and exit code 4', async () => {
    await clip('attach')
    const failed = '00000000-0000-4000-8000-000000000002'
    const queued = '00000000-0000-4000-8000-000000000003'
    await expectUntouched('jobs', async () => {
      for (const args of [
        ['prune'],
        ['jobs', 'retry', failed, '--reason', 'a test'],
        ['jobs', 'cancel', queued, '--reason', 'a test'],
        ['jobs', 'discard', failed, '--reason', 'a test', '--yes'],
        ['dead', 'redrive', '--all', '--reason', 'a test', '--yes'],
      ]) {
        const { exitCode, stderr } = await clip(...args)
        expect({ args, exitCode, stderr }).toEqual({
          args,
          exitCode: 4,
          stderr: expect.stringMatching(/is in mode observe[\s\S]*unstuck mode reap --table/),
        })
      }
      const { stderr } = await clip('prune', '--json')
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'WRONG_MODE' } })
    })
  })

  it('OPS-14 reap --once, which attach names as the next step, records what it would do and changes nothing', async () => {
    await clip('attach')
    const stuck = '00000000-0000-4000-8000-000000000001'
    await expectUntouched('jobs', async () => {
      const { exitCode, stdout, stderr } = await clip('reap', '--once')
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).toMatch(
        new RegExp(`jobs: observe mode, nothing was changed[\\s\\S]*WOULD REQUEUE 1\\s+${stuck}`),
      )
      const { stdout: json } = await clip('reap', '--once', '--json')
      expect(JSON.parse(json)).toMatchObject({
        tables: [
          { table: 'jobs', mode: 'observe', wouldReap: [{ jobId: stuck, action: 'requeued' }] },
          { table: 'asr_jobs', mode: 'observe', wouldReap: [] },
        ],
      })
    })
    expect((await clip('mode')).stdout).toMatch(/would requeue +1\b/)
  })

  it('OPS-14 a table in observe holds up no other', async () => {
    await clip('attach')
    await rows(`insert into asr_jobs (status, started_at) values ('processing', now() - interval '2 days')`)
    await clip('mode', 'reap', '--table', 'asr_jobs')
    await expectUntouched('jobs', async () => {
      const { exitCode, stdout } = await clip('reap', '--once')
      expect(exitCode).toBe(0)
      expect(stdout).toContain('asr_jobs: 1 requeued')
      expect(stdout).toContain('jobs: observe mode, nothing was changed')
    })
  })

  it('OPS-14 a worker looks, says once that it does not claim, and claims when the mode is left', async () => {
    await clip('attach')
    const handlers = `export default (q) => q.handle('clip', async () => ({ ok: true }))`
    writeFileSync(join(commands.folder, 'handlers.mjs'), handlers)
    const env = { DATABASE_URL: commands.database.url, UNSTUCK_PROFILE: 'clip' }
    const worker = startCommand(['worker', './handlers.mjs', '--json'], env, commands.folder)
    const before = await snapshot('jobs')
    const observed = () => rows('select count(*)::int as count from unstuck.observations')
    await expect.poll(observed, { timeout: 30_000 }).toEqual([{ count: 1 }])
    await worker.said('service:standing-by')
    expect(await snapshot('jobs')).toEqual(before)
    await clip('mode', 'reap', '--table', 'jobs')
    const done = () => rows(`select count(*)::int as count from jobs where status = 'completed'`)
    await expect.poll(done, { timeout: 30_000 }).toEqual([{ count: 1 }])
    worker.kill('SIGTERM')
    const { exitCode, stdout, stderr } = await worker.result
    expect(exitCode).toBe(0)
    expect(`${stdout}${stderr}`.match(/service:standing-by/g)).toHaveLength(1)
    expect(`${stdout}${stderr}`).not.toContain('claim:failed')
  })

  it('OPS-14 OPS-7 a row that its own worker touches afterwards came back, and a deleted one is gone', async () => {
    await clip('attach')
    await rows(`insert into jobs (status, started_at, updated_at)
                values ('processing', now() - interval '3 h', now() - interval '3 h')`)
    await rows(`call unstuck.run_sweep__jobs()`)
    await rows(`update jobs set last_heartbeat_at = now() where id = '00000000-0000-4000-8000-000000000001'`)
    await rows(`delete from jobs where status = 'processing' and last_heartbeat_at is null`)
    const [seen] = await rows('select would_requeue, came_back, gone from unstuck.read_observations__jobs()')
    expect(seen).toEqual({ would_requeue: 2, came_back: 1, gone: 1 })
  })
})
