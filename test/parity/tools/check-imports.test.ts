import { describe, expect, it } from 'vitest'
import { loadCheck } from './fixture-tree.ts'

const check = await loadCheck('check/imports')

const GOOD_TREE = {
  'package.json': '{ "name": "unstuck" }',
  'src/errors/catalog.ts': 'export const catalog = {}',
  'src/job/job.ts': "import { catalog } from '../errors/catalog.ts'\nexport const job = catalog",
  'src/policy/backoff.ts':
    "import { job } from '../job/job.ts'\nexport const backoff = (at: number) => new Date(at)",
  'src/profile/profile.ts': "import { backoff } from '../policy/backoff.ts'\nexport const profile = backoff",
  'src/store/job-store.ts': "export type { job } from '../job/job.ts'",
  'src/store/conformance/lifecycle/claim.ts':
    "import type { job } from '../job-store.ts'\nimport { it } from 'vitest'",
  'src/store/memory/index.ts': "import type { job } from '../job-store.ts'\nexport const memory = 1",
  'src/store/postgres/index.ts': "import { Pool } from 'pg'\nexport const postgres = Pool",
  'src/store/neo4j/index.ts': "import neo4j from 'neo4j-driver'\nexport const graph = neo4j",
  'src/runtime/worker.ts':
    "import type { Pool } from 'pg'\nimport type { job } from '../store/job-store.ts'\nexport const worker = 1",
  'src/runtime/worker.test.ts': "import { memory } from '../store/memory/index.ts'",
  'src/compose.ts':
    "import { Pool } from 'pg'\nimport { memory } from './store/memory/index.ts'\nimport { worker } from './runtime/worker.ts'",
  'src/http/server.ts': "export * from '../compose.ts'",
  'src/cli/main.ts': "import '../http/server.ts'\nconst later = import('../compose.ts')",
  'src/index.ts': "export * from './store/memory/index.ts'\nexport * from './compose.ts'",
  'embedded/src/index.ts': "import { boot } from './boot.ts'",
  'embedded/src/boot.ts': 'export const boot = 1',
}

/** The complaints about one file, beside a good tree. */
function complain(path: string, content: string): string[] {
  return check({ ...GOOD_TREE, [path]: content })
}

it('a tree whose imports all point down passes', () => {
  expect(check(GOOD_TREE)).toEqual([])
})

it('a repository without source folders passes', () => {
  expect(check({ 'README.md': '' })).toEqual([])
})

describe('directions', () => {
  it.each([
    ['src/errors/show.ts', '../job/stage.ts', 'errors may not import job'],
    ['src/job/stage.ts', '../policy/retry.ts', 'job may not import policy'],
    ['src/policy/retry.ts', '../profile/clip.ts', 'policy may not import profile'],
    ['src/policy/retry.ts', '../config/env.ts', 'policy may not import config'],
    ['src/config/env.ts', '../runtime/reaper.ts', 'config may not import runtime'],
    ['src/observe/metrics.ts', '../runtime/reaper.ts', 'observe may not import runtime'],
    ['src/store/verbs.ts', './memory/table.ts', 'store may not import store/memory'],
    ['src/store/conformance/reap.ts', '../postgres/pool.ts', 'store may not import store/postgres'],
    ['src/store/memory/table.ts', '../postgres/pool.ts', 'store/memory may not import store/postgres'],
    ['src/store/postgres/pool.ts', '../neo4j/driver.ts', 'store/postgres may not import store/neo4j'],
    ['src/store/memory/table.ts', '../../observe/metrics.ts', 'store/memory may not import observe'],
    ['src/runtime/reaper.ts', '../store/postgres/index.ts', 'runtime may not import store/postgres'],
    ['src/runtime/reaper.ts', '../compose.ts', 'runtime may not import compose'],
    ['src/compose.ts', './http/routes.ts', 'compose may not import http'],
    ['src/http/routes.ts', '../cli/main.ts', 'http may not import cli'],
    ['src/cli/reap.ts', '../store/postgres/index.ts', 'cli may not import store/postgres'],
  ])('%s may not import %s', (path, specifier, message) => {
    expect(complain(path, `\nimport { x } from '${specifier}'`)).toEqual([
      expect.stringContaining(`${path}:2 ${message}`),
    ])
  })

  it.each([
    ["import type { x } from '../policy/retry.ts'"],
    ["export { x } from '../policy/retry.ts'"],
    ["export * from '../policy/retry.js'"],
    ["const x = await import('../policy/retry.ts')"],
    ["type X = import('../policy/retry.ts').X"],
  ])('%s counts as an import', (statement) => {
    expect(complain('src/job/stage.ts', statement)).toEqual([
      'src/job/stage.ts:1 job may not import policy (src/policy/retry.ts)',
    ])
  })

  it('an import in a comment or a string does not count', () => {
    expect(
      complain(
        'src/job/stage.ts',
        "// import '../policy/x.ts'\nexport const text = `import '../policy/x.ts'`",
      ),
    ).toEqual([])
  })

  it('a file outside every layer is refused until somebody places it', () => {
    expect(complain('src/misc/thing.ts', '')).toEqual([
      expect.stringContaining('src/misc/thing.ts:1 belongs to no layer'),
    ])
  })

  it('source does not reach outside src, neither by path nor by its own name', () => {
    expect(
      complain('src/cli/a.ts', "import '../../embedded/src/index.ts'\nimport 'unstuck/postgres'"),
    ).toEqual([
      'src/cli/a.ts:1 imports embedded/src/index.ts, which is outside src',
      'src/cli/a.ts:2 imports its own package by name (unstuck/postgres)',
    ])
  })
})

describe('packages', () => {
  it.each([
    ['src/runtime/beat.ts', "import { Client } from 'pg'"],
    ['src/runtime/beat.ts', "import { type Client } from 'pg'"],
    ['src/store/memory/table.ts', "const pg = await import('pg')"],
    ['src/compose.ts', "import neo4j from 'neo4j-driver'"],
    ['src/compose.ts', "import type { Driver } from 'neo4j-driver'"],
    ['src/store/postgres/pool.ts', "import { int } from 'neo4j-driver/lib/integer.js'"],
  ])('%s may not hold %s', (path, statement) => {
    expect(complain(path, statement)).toEqual([
      expect.stringMatching(/only src\/store\/\S+.* may import (pg|neo4j-driver)$/),
    ])
  })

  it('errors import nothing at all', () => {
    expect(complain('src/errors/show.ts', "import { inspect } from 'node:util'")).toEqual([
      'src/errors/show.ts:1 errors may not import node:util',
    ])
  })
})

describe('purity', () => {
  it.each([
    'const at = Date.now()',
    'const at = new Date()',
    'const at = Date()',
    'const chance = Math.random()',
    'const at = performance.now()',
    'const at = globalThis.performance',
    'setTimeout(() => 1, 5)',
    'const timers = { setInterval }',
    "import { randomUUID } from 'node:crypto'",
    "import type { Buffer } from 'buffer'",
  ])('job and policy may not hold %s', (statement) => {
    expect(complain('src/policy/retry.ts', statement)).toEqual([
      expect.stringContaining('src/policy/retry.ts:1 policy is pure'),
    ])
    expect(complain('src/job/stage.ts', statement)).toEqual([
      expect.stringContaining('src/job/stage.ts:1 job is pure'),
    ])
  })

  it('a given time, a member of that name, a test and other layers are free', () => {
    expect(
      complain(
        'src/policy/retry.ts',
        'export const at = (r: { performance: Date }) => new Date(+r.performance)',
      ),
    ).toEqual([])
    expect(complain('src/policy/retry.test.ts', 'const now = Date.now()')).toEqual([])
    expect(complain('src/runtime/clock.ts', 'export const now = () => Date.now()')).toEqual([])
  })
})

describe('cycles', () => {
  it('two files that import each other are refused, even for types only', () => {
    const tree = {
      'src/job/a.ts': "import type { B } from './b.ts'\nexport type A = B",
      'src/job/b.ts': "\nimport type { A } from './a.ts'\nexport type B = A",
    }
    expect(check(tree)).toEqual([
      'src/job/b.ts:2 closes an import cycle: src/job/a.ts → src/job/b.ts → src/job/a.ts',
    ])
  })

  it('a longer cycle in the embedded package is found behind a diamond', () => {
    const tree = {
      'embedded/src/a.ts': "import './b.ts'\nimport './c.ts'",
      'embedded/src/b.ts': "import './d.ts'",
      'embedded/src/c.ts': "import './d.ts'",
      'embedded/src/d.ts': "import './e.ts'",
      'embedded/src/e.ts': "import './c.ts'",
    }
    expect(check(tree)).toEqual([
      expect.stringContaining('closes an import cycle: embedded/src/d.ts → embedded/src/e.ts'),
    ])
  })
})
