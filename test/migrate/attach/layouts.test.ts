// The files that `attach --layout` writes, applied as each tool applies them: what comes out is what an attach makes.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { migrateStatus } from '../../../src/store/postgres/index.ts'
import { type CommandResult, runCommand } from '../../cli/support/run-command.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { schemaExists } from '../describe.ts'
import { splitStatements } from '../split-statements.ts'

let database: TestDatabase
let folder: string

beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
  folder = mkdtempSync(join(tmpdir(), 'unstuck-layout-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

const run = (...args: string[]): Promise<CommandResult> =>
  runCommand(['attach', '--profile', 'clip', ...args], { DATABASE_URL: database.url }, folder)
const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8')
const list = (...path: string[]) => readdirSync(join(folder, ...path)).toSorted()

async function layOut(tool: string): Promise<void> {
  const { exitCode, stderr } = await run('--layout', tool)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(await schemaExists(database.pool)).toBe(false)
}

async function expectAttached(): Promise<void> {
  const status = await migrateStatus({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
  expect(status).toMatchObject({ isCurrent: true })
  const again = await run('--layout', 'plain')
  expect(again.stdout).toBe('Nothing is missing. No file was written.\n')
}

describe('the layout', () => {
  it('OPS-7 plain is one script for psql', async () => {
    await layOut('plain')
    const [file = ''] = list()
    expect(file).toMatch(/^\d{14}_unstuck\.sql$/)
    const client = await database.connect()
    for (const statement of splitStatements(read(file))) await client.query(statement)
    await expectAttached()
  })

  it('OPS-7 supabase keeps what cannot run in a transaction in a file of its own', async () => {
    await layOut('supabase')
    const [first = '', second = ''] = list('supabase', 'migrations')
    expect([first, second]).toEqual([
      expect.stringMatching(/^\d{14}_unstuck\.sql$/),
      expect.stringMatching(/^\d{14}_unstuck_indexes\.sql$/),
    ])
    expect(read('supabase', 'migrations', second)).toContain('Supabase CLI 2.109 or newer')
    const client = await database.connect()
    await client.query(`begin; ${read('supabase', 'migrations', first)}; commit`)
    for (const statement of splitStatements(read('supabase', 'migrations', second)))
      await client.query(statement)
    await expectAttached()
  })

  it('OPS-7 prisma has a migration of one statement for each index', async () => {
    await layOut('prisma')
    const migrations = list('prisma', 'migrations')
    expect(migrations).toHaveLength(1 + 2 * 4)
    const client = await database.connect()
    // As one message each: several statements are a transaction, a single one is not.
    for (const migration of migrations)
      await client.query(read('prisma', 'migrations', migration, 'migration.sql'))
    await expectAttached()
  })

  it('OPS-7 drizzle goes on with its journal, and builds in its transaction', async () => {
    mkdirSync(join(folder, 'drizzle', 'meta'), { recursive: true })
    const entry = { idx: 4, version: '7', when: 4_000_000_000_000, tag: '0004_last', breakpoints: true }
    const journal = { version: '7', dialect: 'postgresql', entries: [entry] }
    writeFileSync(join(folder, 'drizzle', 'meta', '_journal.json'), JSON.stringify(journal))
    await layOut('drizzle')
    const { entries } = JSON.parse(read('drizzle', 'meta', '_journal.json')) as typeof journal
    expect(entries).toEqual([
      entry,
      { ...entry, idx: 5, tag: '0005_unstuck', when: 4_000_000_000_001 },
      { ...entry, idx: 6, tag: '0006_unstuck_indexes', when: 4_000_000_000_002 },
    ])
    const client = await database.connect()
    await client.query('begin')
    for (const { tag } of entries.slice(1)) {
      const text = read('drizzle', `${tag}.sql`)
      for (const statement of text.split('--> statement-breakpoint')) await client.query(statement)
    }
    await client.query('commit')
    await expectAttached()
  })

  it('OPS-7 of a folder of one’s own goes there, with a new journal where there is none', async () => {
    const { stdout } = await run('--layout', 'drizzle', '--out', 'db/migrations')
    expect(stdout).toMatch(/^wrote db\/migrations\/0000_unstuck\.sql\n/)
    expect(existsSync(join(folder, 'db/migrations/meta/_journal.json'))).toBe(true)
  })

  it('OPS-7 never writes over a file, nor into a journal that it does not understand', async () => {
    mkdirSync(join(folder, 'drizzle', 'meta'), { recursive: true })
    writeFileSync(join(folder, 'drizzle', '0000_unstuck.sql'), 'mine')
    const taken = await run('--layout', 'drizzle')
    expect([taken.exitCode, taken.stderr]).toEqual([4, expect.stringContaining('already exists')])
    expect(read('drizzle', '0000_unstuck.sql')).toBe('mine')
    writeFileSync(join(folder, 'drizzle', 'meta', '_journal.json'), '[]')
    const odd = await run('--layout', 'drizzle')
    expect([odd.exitCode, odd.stderr]).toEqual([4, expect.stringContaining('is not a Drizzle journal')])
    expect(list('drizzle')).toEqual(['0000_unstuck.sql', 'meta'])
  })

  it('OPS-8 that is none, or stands beside --plan, is refused', async () => {
    expect(await run('--layout', 'flyway')).toMatchObject({ exitCode: 2 })
    expect(await run('--layout', 'plain', '--plan')).toMatchObject({ exitCode: 2 })
    expect(list()).toEqual([])
  })
})
