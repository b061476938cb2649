// Code in the documentation is executed: TypeScript as a program beside the built package, SQL on a fresh install.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { clipTables } from '../support/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const root = new URL('../../', import.meta.url)
// Inside the package, so that it can import itself by name as a user's project would.
const scratch = new URL('.unstuck/docs/', root)
const pages = [
  'README.md',
  'docs/reference/sql-functions.md',
  'docs/concepts/job-lifecycle.md',
  'docs/concepts/failures.md',
  'docs/concepts/breaker-and-limits.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
]

interface Block {
  page: string
  line: number
  code: string
}

function blocksOf(language: string): Block[] {
  return pages.flatMap((page) => {
    const text = readFileSync(new URL(page, root), 'utf8')
    return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
      .filter(([, found]) => found === language)
      .map((match) => ({ page, line: text.slice(0, match.index).split('\n').length, code: match[2] ?? '' }))
  })
}

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
})
afterAll(() => database.drop())

describe('TypeScript', () => {
  it.each(blocksOf('ts'))('$page:$line runs', async ({ page, line, code }) => {
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    })
    mkdirSync(scratch, { recursive: true })
    const file = fileURLToPath(new URL(`${page.replaceAll(/\W/g, '-')}-${line}.mjs`, scratch))
    writeFileSync(file, outputText)
    const env = { ...process.env, DATABASE_URL: database.url }
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
    // What the comments of a block promise is what it prints.
    for (const promise of code.matchAll(/console\.log\(.*\) \/\/ (.*?)(?:;.*)?$/gm))
      expect(stdout).toContain(promise[1])
  })
})

describe('SQL', () => {
  it.each(blocksOf('sql'))('$page:$line runs', async ({ code }) => {
    const statements = code
      .replaceAll(/--.*$/gm, '')
      .split(/;\s*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '')
    expect(statements.length).toBeGreaterThan(0)
    for (const statement of statements) await database.pool.query(statement)
  })
})
