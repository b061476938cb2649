// Code in the documentation is executed: TypeScript as a program beside the built package, SQL on a fresh install.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { shippedProfile } from '../../../src/profile/shipped.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { splitStatements } from '../../migrate/split-statements.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const root = new URL('../../../', import.meta.url)
// Inside the package, so that it can import itself by name as a user's project would.
const scratch = new URL('.unstuck/docs/', root)
const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', root))
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.replaceAll('\\', '/')}`)
    .toSorted(),
]

interface Block {
  page: string
  line: number
  language: string
  code: string
}

const blocks: Block[] = pages.flatMap((page) => {
  const text = readFileSync(new URL(page, root), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    code: match[2] ?? '',
  }))
})

/** Variables that a page exports for its commands, such as the profile of a guide. */
function environmentOf(page: string): Record<string, string> {
  const shell = blocks.filter((block) => block.page === page && block.language === 'sh')
  const exported = shell.flatMap(({ code }) => [...code.matchAll(/^export (.*)$/gm)])
  const pairs = exported.flatMap(([, assignments = '']) => assignments.split(' '))
  return Object.fromEntries(pairs.map((pair) => pair.split('=', 2)))
}

const isExecuted = ({ language }: Block) => language === 'ts' || language === 'sql'
const guides = pages.filter((page) => 'UNSTUCK_PROFILE' in environmentOf(page))

async function runBlock({ page, line, language, code }: Block, { url, pool }: TestDatabase): Promise<void> {
  if (language === 'sql') return runSql(code, pool)
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  })
  mkdirSync(scratch, { recursive: true })
  const isSuite = /from 'vitest'/.test(code)
  const name = `${page.replaceAll(/\W/g, '-')}-${line}${isSuite ? '.test' : ''}.mjs`
  const file = fileURLToPath(new URL(name, scratch))
  writeFileSync(file, outputText)
  const env = { ...process.env, ...environmentOf(page), DATABASE_URL: url }
  const args = isSuite
    ? [vitest, 'run', '--root', fileURLToPath(scratch), '--config', suiteConfig(), name]
    : [file]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  // The block prints what its comments promise.
  for (const promise of code.matchAll(/console\.log\(.*\) \/\/ (.*?)(?:;.*)?$/gm))
    expect(stdout).toContain(promise[1])
}

/** A suite in the documentation runs as a user's would, without the settings of this repository. */
function suiteConfig(): string {
  const file = fileURLToPath(new URL('vitest.config.mjs', scratch))
  writeFileSync(file, "export default { test: { include: ['*.test.mjs'] } }\n")
  return file
}

async function runSql(code: string, pool: TestDatabase['pool']): Promise<void> {
  const statements = splitStatements(code)
  expect(statements.length).toBeGreaterThan(0)
  for (const statement of statements) await pool.query(statement)
}

describe('pages about the native and the clip tables', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
    await database.pool.query(clipTables)
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
  })
  afterAll(() => database.drop())
  const plain = blocks.filter(({ page }) => !guides.includes(page))
  for (const wanted of ['ts', 'sql'])
    it.each(plain.filter(({ language }) => language === wanted))('$page:$line runs', (block) =>
      runBlock(block, database),
    )
})

// Its first block of SQL is the table of the team, which is there before anything is installed.
describe.each(guides)('%s', (page) => {
  let database: TestDatabase
  const [table, ...others] = blocks.filter((block) => block.page === page && isExecuted(block))
  beforeAll(async () => {
    database = await createTestDatabase()
    await runSql(table?.code ?? '', database.pool)
    const profile = shippedProfile(environmentOf(page)['UNSTUCK_PROFILE'] ?? '', 'unstuck')
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
  })
  afterAll(() => database.drop())
  it.each(others)('$page:$line runs', (block) => runBlock(block, database))
})
