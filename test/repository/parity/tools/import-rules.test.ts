// scripts/check/import-rules.mjs on a small repository, clean and with forbidden imports.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { makeTree } from './fixture-tree.ts'

// Starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

interface Report {
  summary: { violations: { from: string; to: string; rule: { name: string } }[] }
}

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

const GOOD_TREE = {
  'package.json': JSON.stringify({ name: 'unstuck', dependencies: { pg: '8', 'neo4j-driver': '5' } }),
  'tsconfig.json': '{ "compilerOptions": { "module": "NodeNext", "allowImportingTsExtensions": true } }',
  'node_modules/pg/package.json': '{ "name": "pg", "main": "index.js" }',
  'node_modules/pg/index.js': '',
  'node_modules/neo4j-driver/package.json': '{ "name": "neo4j-driver", "main": "index.js" }',
  'node_modules/neo4j-driver/index.js': '',
  'src/errors/catalog.ts': 'export const catalog = {}',
  'src/job/job.ts': "import { catalog } from '../errors/catalog.ts'\nexport const job = catalog",
  'src/policy/backoff.ts': "import { job } from '../job/job.ts'\nexport const backoff = job",
  'src/profile/profile.ts': "import { backoff } from '../policy/backoff.ts'\nexport const profile = backoff",
  'src/config/env.ts': "import { profile } from '../profile/profile.ts'\nexport const env = profile",
  'src/observe/metrics.ts': "import type { job } from '../job/job.ts'\nexport const metrics = 1",
  'src/store/job-store.ts': "export type { job } from '../job/job.ts'",
  'src/store/conformance/claim.ts': "import type { job } from '../job-store.ts'",
  'src/store/memory/index.ts': "import type { job } from '../job-store.ts'\nexport const memory = 1",
  'src/store/postgres/index.ts': "import { Pool } from 'pg'\nexport const postgres = Pool",
  'src/store/neo4j/index.ts': "import neo4j from 'neo4j-driver'\nexport const graph = neo4j",
  'src/runtime/worker.ts':
    "import type { Pool } from 'pg'\nimport type { job } from '../store/job-store.ts'\nexport const worker = 1",
  'src/runtime/worker.test.ts': "import { memory } from '../store/memory/index.ts'",
  'src/compose/index.ts':
    "import { Pool } from 'pg'\nimport { memory } from '../store/memory/index.ts'\nimport { worker } from '../runtime/worker.ts'",
  'src/http/server.ts': "export * from '../compose/index.ts'",
  'src/cli/main.ts': "import '../http/server.ts'\nconst later = import('../compose/index.ts')",
  'src/index.ts': "export * from './store/memory/index.ts'\nexport * from './compose/index.ts'",
  'embedded/src/index.ts': "import { boot } from './boot.ts'",
  'embedded/src/boot.ts': 'export const boot = 1',
}

/** Names of the violated rules by file. */
function judge(files: Record<string, string>): Record<string, string[]> {
  const tree = makeTree(files)
  const command = `${repository}node_modules/dependency-cruiser/bin/dependency-cruise.mjs`
  const args = [
    '--config',
    `${repository}scripts/check/import-rules.mjs`,
    '--output-type',
    'json',
    'src',
    'embedded/src',
  ]
  const { stdout, stderr } = spawnSync(process.execPath, [command, ...args], { cwd: tree, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  const broken: Record<string, string[]> = {}
  for (const { from, rule } of (JSON.parse(stdout) as Report).summary.violations)
    (broken[from] ??= []).push(rule.name)
  return broken
}

it('a tree whose imports all point down passes', () => {
  expect(judge(GOOD_TREE)).toEqual({})
})

const forbidden: [path: string, statement: string, rule: RegExp][] = [
  ['src/errors/show.ts', "import '../job/job.ts'", /^errors imports nothing/],
  ['src/job/stage.ts', "import '../policy/backoff.ts'", /^job imports only errors$/],
  ['src/policy/retry.ts', "import '../profile/profile.ts'", /^policy imports only/],
  ['src/policy/limit.ts', "import '../config/env.ts'", /^policy imports only/],
  ['src/config/file.ts', "import '../runtime/worker.ts'", /^config imports only/],
  ['src/observe/traces.ts', "import '../runtime/worker.ts'", /^observe imports only/],
  ['src/store/verbs.ts', "import './memory/index.ts'", /^store imports only/],
  ['src/store/conformance/reap.ts', "import '../postgres/index.ts'", /^store imports only/],
  ['src/store/memory/table.ts', "import '../postgres/index.ts'", /^store\/memory imports only/],
  ['src/store/memory/clock.ts', "import '../../observe/metrics.ts'", /^store\/memory imports only/],
  ['src/store/postgres/pool.ts', "import '../neo4j/index.ts'", /^store\/postgres imports only/],
  ['src/runtime/reaper.ts', "import '../store/postgres/index.ts'", /^runtime imports only/],
  ['src/runtime/beat.ts', "import '../compose/index.ts'", /^runtime imports only/],
  ['src/http/routes.ts', "import '../cli/main.ts'", /^http imports only/],
  ['src/cli/reap.ts', "import '../store/postgres/index.ts'", /^cli imports only/],
  // Every form of an import counts.
  ['src/job/a.ts', "import type { x } from '../policy/backoff.ts'", /^job imports only/],
  ['src/job/b.ts', "export { x } from '../policy/backoff.ts'", /^job imports only/],
  ['src/job/c.ts', "export * from '../policy/backoff.js'", /^job imports only/],
  ['src/job/d.ts', "const x = await import('../policy/backoff.ts')", /^job imports only/],
  ['src/job/e.ts', "type X = import('../policy/backoff.ts').X", /^job imports only/],
  ['src/misc/thing.ts', "import '../job/job.ts'", /^every file belongs to a layer/],
  ['src/cli/a.ts', "import '../../embedded/src/index.ts'", /^src imports neither/],
  ['src/cli/b.ts', "import 'unstuck/postgres'", /^src imports neither/],
  // Packages.
  ['src/runtime/query.ts', "import { Client } from 'pg'", /^only .* may import pg$/],
  ['src/store/memory/query.ts', "const pg = await import('pg')", /^only .* may import pg$/],
  ['src/http/graph.ts', "import neo4j from 'neo4j-driver'", /^only .* may import neo4j-driver$/],
  ['src/cli/graph.ts', "import type { Driver } from 'neo4j-driver'", /^only .* may import neo4j-driver$/],
  ['src/errors/inspect.ts', "import { inspect } from 'node:util'", /^errors import no package$/],
  ['src/policy/chance.ts', "import { randomUUID } from 'node:crypto'", /^job and policy import no built-in/],
  ['src/job/bytes.ts', "import type { Buffer } from 'buffer'", /^job and policy import no built-in/],
]

it('a file with a forbidden import is refused, a comment or a string is not', () => {
  const broken = judge({
    ...GOOD_TREE,
    ...Object.fromEntries(forbidden.map(([path, statement]) => [path, statement])),
    'src/job/comment.ts': "// import '../policy/x.ts'\nexport const text = `import '../policy/x.ts'`",
  })
  const expected = forbidden.map(([path, , rule]) => [path, [expect.stringMatching(rule)]])
  expect(broken).toEqual(Object.fromEntries(expected))
})

it('a cycle is refused once: of two files, even for types only, and of three behind a diamond', () => {
  const cycles = judge({
    'package.json': GOOD_TREE['package.json'],
    'tsconfig.json': GOOD_TREE['tsconfig.json'],
    'src/job/a.ts': "import type { B } from './b.ts'\nexport type A = B",
    'src/job/b.ts': "import type { A } from './a.ts'\nexport type B = A",
    'embedded/src/a.ts': "import './b.ts'\nimport './c.ts'",
    'embedded/src/b.ts': "import './d.ts'",
    'embedded/src/c.ts': "import './d.ts'",
    'embedded/src/d.ts': "import './e.ts'",
    'embedded/src/e.ts': "import './c.ts'",
  })
  const rule = 'no import cycles, not even of types'
  expect(cycles).toEqual({ 'src/job/a.ts': [rule], 'embedded/src/c.ts': [rule] })
})
