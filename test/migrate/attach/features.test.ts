// `unstuck attach --features` as a person meets it (ADR 0034).
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startCommand } from '../../cli/support/run-command.ts'
import { type CommandFolder, openCommandFolder } from '../command-folder.ts'

let { database, folder, run, close } = {} as CommandFolder

beforeEach(async () => {
  ;({ database, folder, run, close } = await openCommandFolder())
  await database.pool.query(`create table mail_jobs (
    id bigserial primary key, status text not null default 'pending', tries int not null default 0,
    created_at timestamptz not null default now())`)
  writeConfig({})
})
afterEach(() => close())

/** `policy` is that of the process, which the file gives beside the profile. */
function writeConfig(policy: object): void {
  const table = {
    table: 'mail_jobs',
    idType: 'bigint',
    defaultType: 'mail',
    columns: { attempt: 'tries' },
    statuses: { waiting: 'pending', running: ['running'], succeeded: 'done', dead: 'failed' },
    policy: { defaultDeadlineMs: 0, maxRuntimeMs: 0 },
  }
  const config = { profile: { name: 'mail', tables: [table] }, policy }
  writeFileSync(join(folder, 'unstuck.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  writeFileSync(join(folder, 'handlers.mjs'), `export default (q) => q.handle('mail', async () => {})\n`)
}

it('OPS-13 --plan names each column with its purpose, and the features that the table does without', async () => {
  const { stdout } = await run('attach', '--plan', '--features', 'cancel')
  expect(stdout).toMatch(/^-- public\.mail_jobs gets \d+ columns:$/m)
  expect(stdout).toMatch(/^-- {3}lease_expires_at +when the job is taken back$/m)
  expect(stdout).toMatch(/^-- {3}cancel_requested_at +cancel: cancels running jobs$/m)
  expect(stdout).toMatch(
    /^-- public\.mail_jobs does without deadlines, stages, .*tracing.*\. To add them: {2}unstuck attach --features <names>$/m,
  )
  expect(stdout).not.toContain('add column if not exists "priority"')
  const json = JSON.parse((await run('attach', '--plan', '--features', 'cancel', '--json')).stdout) as {
    additions: { table: string; columns: object[]; leftOut: string[] }[]
  }
  expect(json.additions).toMatchObject([{ table: 'public.mail_jobs' }])
  expect(json.additions[0]?.columns).toContainEqual({
    column: 'cancel_requested_at',
    feature: 'cancel',
    why: 'cancels running jobs',
  })
  expect(json.additions[0]?.leftOut).toContain('deadlines')
  expect(json.additions[0]?.leftOut).not.toContain('cancel')
})

it('OPS-13 an unknown feature is refused with the names of all', async () => {
  const { exitCode, stderr } = await run('attach', '--features', 'cancel,colour')
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/Features: all, deadlines, .*tracing/)
})

it('OPS-13 a worker whose policy needs a missing column does not start until attach has added it', async () => {
  await run('attach')
  writeConfig({ maxRuntimeMs: 60_000 })
  const refused = await run('worker', './handlers.mjs')
  expect(refused).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/public\.mail_jobs uses deadlines.*deadline_at, timeouts/),
  })
  expect(refused.stderr).toContain('unstuck attach --features deadlines')
  expect(await run('attach', '--features', 'deadlines')).toMatchObject({ exitCode: 0 })
  await run('mode', 'reap')
  await database.pool.query('insert into mail_jobs default values')
  const worker = startCommand(['worker', './handlers.mjs'], { DATABASE_URL: database.url }, folder)
  const read = async () => (await database.pool.query('select status from mail_jobs')).rows
  await expect.poll(read, { timeout: 30_000 }).toEqual([{ status: 'done' }])
  worker.kill('SIGTERM')
  expect(await worker.result).toMatchObject({ exitCode: 0 })
})
