// Rows that were stuck before their table was attached: what is said of them, and what brings them back.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type CommandFolder, openCommandFolder } from '../command-folder.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let { database, folder, run, close } = {} as CommandFolder

beforeAll(async () => {
  ;({ database, folder, run, close } = await openCommandFolder())
  await database.pool.query(`
    create table my_jobs (
      id bigserial primary key, status text not null default 'pending', locked_by text, locked_at timestamptz,
      attempts int not null default 0, updated_at timestamptz);
    insert into my_jobs (status, locked_by, locked_at, updated_at)
    select 'processing', 'old-' || n, now() - interval '2 hours', now() - interval '2 hours' from generate_series(1, 3) n;
    insert into my_jobs (status) values ('pending'), ('completed'), ('failed');`)
  await run('attach', '--yes')
})
afterAll(() => close())

const remedy =
  'policy: { legacyAgeRule: true } in the config file reaps such rows by the age of locked_at, updated_at'

it('REAP-8 every command that reports them names the setting and its columns, and none sends a person in a circle', async () => {
  const stuck = await run('stuck')
  expect(stuck.exitCode).toBe(1)
  expect(stuck.stdout).toContain(`my_jobs: 3 running without a lease, and legacyAgeRule is off: ${remedy}`)
  expect(stuck.stdout).not.toContain('Next:')
  expect((await run('why', '1')).stdout).toContain(`No sweep touches it: ${remedy}.`)
  expect((await run('status')).stdout).toContain(remedy)
  expect((await run('doctor')).stdout).toContain(remedy)
})

it('REAP-8 the age rule of the config file brings them back', async () => {
  const path = join(folder, 'unstuck.config.mjs')
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replace('export default {', 'export default {\n  policy: { legacyAgeRule: true },'),
  )
  expect((await run('why', '1')).stdout).toContain('LEASE_OVER_AWAITING_REAPER')
  const stuck = await run('stuck')
  expect(stuck.stdout).toContain('Next:  unstuck mode reap')
  await run('mode', 'reap')
  expect((await run('stuck')).stdout).toContain('Next:  unstuck reap --once')
  expect(stuck.stdout).not.toContain('legacyAgeRule')
  await run('reap', '--once')
  const { rows } = await database.pool.query('select status from my_jobs where id <= 3')
  expect(rows).toEqual(Array.from({ length: 3 }, () => ({ status: 'pending' })))
})
