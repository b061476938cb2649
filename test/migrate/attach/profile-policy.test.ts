// The policy of a profile in the config file, after the first attach has stored it.
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
      attempts int not null default 0);
    insert into my_jobs (status) values ('pending'), ('processing'), ('completed'), ('failed');`)
  await run('attach', '--yes')
})
afterAll(() => close())

const difference = 'defaultLeaseMs is 120000 in the profile and 300000 in the database'

it('OPS-7 is reported with both values if it differs, and stored by the printed statement', async () => {
  expect((await run('attach', '--plan')).stdout).not.toContain('stored policy')
  const path = join(folder, 'unstuck.config.mjs')
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replace("table: 'my_jobs',", "table: 'my_jobs',\n        policy: { defaultLeaseMs: 120_000 },"),
  )
  const plan = await run('attach', '--plan')
  expect(plan.stdout).toContain(`--     ${difference}`)
  expect((await run('doctor')).stdout).toContain(`public.my_jobs: ${difference}`)
  const again = await run('attach')
  expect(again.stdout).toContain(difference)
  const { rows } = await database.pool.query(
    `select default_lease_ms from unstuck.policies where attachment = 'my_jobs'`,
  )
  expect(rows).toEqual([{ default_lease_ms: '300000' }])

  const [, statement = ''] = /To store the values of the profile: {2}(.*)$/m.exec(again.stdout) ?? []
  expect(statement).toBe(`select unstuck.write_policy('my_jobs', '{"default_lease_ms":120000}');`)
  await database.pool.query(statement)
  expect((await run('attach', '--plan')).stdout).not.toContain('stored policy')
  expect((await run('doctor')).stdout).toContain('public.my_jobs: no override of the stored policy')
})
