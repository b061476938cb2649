// The blocks of the guide compile with the types of each client, and run.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { isInstalled } from './open-clients.mjs'

const guide = new URL('../../../docs/guides/handlers/enqueue-in-your-transaction.md', import.meta.url)
const text = readFileSync(guide, 'utf8')
const packages: Record<string, string> = {
  'drizzle-orm': 'Drizzle over pg',
  kysely: 'Kysely',
  knex: 'Knex',
  typeorm: 'TypeORM',
  '@prisma': 'Prisma',
  postgres: 'postgres.js',
}

const blocks = [...text.matchAll(/^## (.*)$(?:(?!^## )[^])*?^```typescript\n([^]*?)^```$/gm)].map(
  ([, title = '', code = '']) => {
    const client = Object.entries(packages).find(([name]) => code.includes(`from '${name}`))?.[1] ?? 'pg'
    return { title, code, client }
  },
)
/** Beside the packages that the block imports. */
const scratchOf = (client: string) =>
  new URL(client === 'Prisma' ? 'prisma/.unstuck/' : '.unstuck/', import.meta.url)

const isSmoke = process.env['UNSTUCK_TEST_SMOKE'] !== undefined
const inSmoke = ['pg', 'postgres.js', 'Kysely']

let database: TestDatabase
beforeAll(async () => {
  database = await createInstalledDatabase()
  const [, table = ''] = /^```postgresql\n([^]*?)^```$/m.exec(text) ?? []
  await database.pool.query(table)
})
afterAll(() => database.drop())

it('WORK-11 the guide has a block for each client', () => {
  const titles = ['pg', 'postgres.js', 'Drizzle', 'Kysely', 'Knex', 'TypeORM', 'Prisma', 'Any other client']
  expect(blocks.map(({ title }) => title)).toEqual(expect.arrayContaining(titles))
})

describe.each(blocks)('$title', ({ title, code, client }) => {
  const isWanted = isInstalled(client) && (!isSmoke || inSmoke.includes(client))
  const name = title.replaceAll(/\W/g, '-')

  it.skipIf(!isWanted)('WORK-11 runs', async () => {
    const file = write(`${name}.mjs`, client, transpile(code))
    const env = { ...process.env, DATABASE_URL: database.url }
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
    for (const promise of code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm))
      expect(stdout).toContain(promise[1])
  })

  // Compiling is most of the time of this file.
  it.skipIf(!isWanted || isSmoke)('WORK-11 compiles', () => {
    expect(problemsOf(write(`${name}.mts`, client, code))).toEqual([])
  })
})

function transpile(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
  return ts.transpileModule(code, { compilerOptions }).outputText
}

function write(name: string, client: string, code: string): string {
  mkdirSync(scratchOf(client), { recursive: true })
  const file = fileURLToPath(new URL(name, scratchOf(client)))
  writeFileSync(file, code)
  return file
}

function problemsOf(file: string): string[] {
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
