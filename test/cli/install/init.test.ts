import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readsTypeScript } from '../../../src/config/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { runCommand } from '../support/run-command.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

const file = readsTypeScript() ? 'unstuck.config.ts' : 'unstuck.config.mjs'
let database: TestDatabase
let folder: string
const run = (...args: string[]) => runCommand(args, { DATABASE_URL: database.url }, folder)
const configText = () => readFileSync(join(folder, file), 'utf8')

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-'))
  await database.pool.query(`
    drop schema if exists unstuck cascade;
    drop table if exists public.video_jobs;
    create table public.video_jobs (
      id bigint generated always as identity primary key, kind text not null, payload jsonb, status text not null default 'pending',
      locked_by text, locked_at timestamptz, heartbeat_at timestamptz, attempts int not null default 0,
      created_at timestamptz not null default now(), updated_at timestamptz);
    insert into public.video_jobs (kind, status) values ('asr', 'pending'), ('asr', 'processing'), ('asr', 'completed'), ('asr', 'failed')`)
})
afterEach(() => rmSync(folder, { recursive: true }))

const isInstalled = async () =>
  (await database.pool.query(`select 1 from pg_namespace where nspname = 'unstuck'`)).rows.length > 0

describe('init', () => {
  it('OPS-7 writes a config file and the migration for a table, runs nothing, and says what is next', async () => {
    const { exitCode, stdout, stderr } = await run('init', '--table', 'public.video_jobs')
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining(`wrote ${file}: a draft profile for public.video_jobs`),
    ])
    expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(3)
    expect(stdout).toContain('unstuck attach')
    expect(configText()).toContain("table: 'video_jobs'")
    const [migration] = readdirSync(folder).filter((name) => name.endsWith('_unstuck.sql'))
    expect(readFileSync(join(folder, migration ?? ''), 'utf8')).toContain('add column if not exists')
    expect(await isInstalled()).toBe(false)
  })

  it('OPS-7 what it wrote is taken by attach', async () => {
    await run('init', '--table', 'public.video_jobs')
    expect(await run('attach')).toMatchObject({ exitCode: 0 })
    // A job of the application runs, and no sweep has run yet.
    expect(await run('status', '--json')).toMatchObject({ exitCode: 1, stderr: '' })
  })

  it('OPS-7 finds the only table of jobs by itself, and prints the migration where it is asked to', async () => {
    const { exitCode, stdout } = await run('init', '--print')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('create or replace function')
    expect(readdirSync(folder)).toEqual([file])
  })

  it('OPS-7 a config file that is there is not touched without --force', async () => {
    writeFileSync(join(folder, file), 'export default {}\n')
    const refused = await run('init', '--table', 'public.video_jobs')
    expect([refused.exitCode, refused.stderr]).toEqual([
      4,
      expect.stringMatching(/was not changed\n.*--force/),
    ])
    expect(configText()).toBe('export default {}\n')
    expect(readdirSync(folder)).toEqual([file])
    expect(await run('init', '--table', 'public.video_jobs', '--force')).toMatchObject({ exitCode: 0 })
    expect(configText()).toContain("table: 'video_jobs'")
  })

  it('OPS-7 without a table of jobs there will be one of its own', async () => {
    await database.pool.query('drop table public.video_jobs')
    const { exitCode, stdout } = await run('init', '--json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      table: null,
      questions: [],
      migrations: [expect.any(String)],
    })
    expect(configText()).toContain("profile: 'native'")
    expect(await run('migrate', 'up')).toMatchObject({ exitCode: 0 })
  })

  it('OPS-7 without a database it writes what an empty one lacks', async () => {
    const { exitCode } = await runCommand(['init'], {}, folder)
    expect(exitCode).toBe(0)
    expect(readFileSync(join(folder, 'unstuck.sql'), 'utf8')).toContain(
      'create or replace function "unstuck"."claim_jobs"',
    )
  })

  it('OPS-7 a table that is not there is refused, and nothing is written', async () => {
    const { exitCode, stderr } = await run('init', '--table', 'public.nothing')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('public.nothing')])
    expect(existsSync(join(folder, file))).toBe(false)
  })
})
