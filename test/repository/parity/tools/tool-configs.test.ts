import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { makeTree } from './fixture-tree.ts'

// Each test starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

/** Runs a tool with the repository's configuration on a tree of files. */
function runTool(tool: string, args: string[], config: string, files: Record<string, string>) {
  const root = makeTree({ ...files, [config]: readFileSync(`${repository}${config}`, 'utf8') })
  const command = `${repository}node_modules/${tool}`
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

describe('the lint configuration', () => {
  const TSCONFIG =
    '{ "compilerOptions": { "strict": true, "module": "NodeNext", "lib": ["ES2023", "DOM"], "noEmit": true } }'

  function lint(path: string, content: string) {
    return lintAll({ [path]: content })
  }

  function lintAll(files: Record<string, string>) {
    const tree = {
      'tsconfig.json': TSCONFIG,
      'src/job/job.ts': 'export interface Job {\n  id: string\n}\n',
      ...files,
    }
    return runTool(
      'oxlint/bin/oxlint',
      ['--type-aware', '--deny-warnings', '--format=unix'],
      '.oxlintrc.json',
      tree,
    )
  }

  it('accepts clean code, and a command that prints', () => {
    expect(lint('src/cli/main.ts', "console.log('hello')\n")).toMatchObject({ status: 0 })
  })

  it.each([
    ['no-floating-promises', 'async function beat() {}\nbeat()\n'],
    ['no-misused-promises', 'async function beat() {}\n[1].forEach(async () => {\n  await beat()\n})\n'],
    ['await-thenable', 'export const one = await 1\n'],
    ['no-unused-vars', 'const one = 1\n'],
    ['no-explicit-any', 'export function f(x: any) {\n  return typeof x\n}\n'],
    ['no-unsafe-member-access', "export const name = String(JSON.parse('{}').name)\n"],
    ['consistent-type-imports', "import { Job } from './job/job.js'\nexport type Id = Job['id']\n"],
    [
      'switch-exhaustiveness-check',
      "export function f(x: 'a' | 'b') {\n  switch (x) {\n    case 'a':\n      return 1\n  }\n  return 2\n}\n",
    ],
    ['only-throw-error', "export function f() {\n  throw 'text'\n}\n"],
    ['no-empty', 'export function f() {\n  try {\n    f()\n  } catch {}\n}\n'],
    ['no-default-export', 'export default 1\n'],
    ['no-console', "console.log('hello')\n"],
  ])('%s is an error', (rule, content) => {
    const { status, output } = lint('src/broken.ts', content)
    expect(output).toContain(`(${rule})`)
    expect(status).toBe(1)
  })

  const impure = [
    'export const at = Date.now()',
    'export const at = new Date()',
    'export const at = Date()',
    'export const chance = Math.random()',
    'export const at = performance.now()',
    'export const clock = globalThis.performance',
    'setTimeout(() => 1, 5)',
    'export const timers = { setInterval }',
  ]

  it('job and policy may use neither clock nor timer nor chance', () => {
    const planted = ['src/job', 'src/policy'].flatMap((folder) =>
      impure.map((line, index): [string, string] => [`${folder}/impure-${index}.ts`, `${line}\n`]),
    )
    const { output } = lintAll(Object.fromEntries(planted))
    const found = output.matchAll(/(src\/\w+\/impure-\d\.ts):.*\(no-restricted-(?:globals|properties)\)/g)
    expect(new Set([...found].map(([, path]) => path))).toEqual(new Set(planted.map(([path]) => path)))
  })

  it('the runtime takes time and chance from one module', () => {
    const direct = [
      'export const at = Date.now()',
      'export const chance = Math.random()',
      'export const at = performance.now()',
      'setTimeout(() => 1, 5)',
      'export const timers = { setInterval }',
      "import { setTimeout } from 'node:timers/promises'\nvoid setTimeout(5)",
      "import { randomUUID } from 'node:crypto'\nexport const id = randomUUID()",
    ]
    const planted = direct.map((line, index): [string, string] => [
      `src/runtime/direct-${index}.ts`,
      `${line}\n`,
    ])
    const { output } = lintAll(Object.fromEntries(planted))
    const found = output.matchAll(/(src\/runtime\/direct-\d\.ts):/g)
    expect(new Set([...found].map(([, path]) => path))).toEqual(new Set(planted.map(([path]) => path)))
  })

  it('a date as a type, a member of a forbidden name, a test and other layers are free', () => {
    const now = 'export const now = () => Date.now()\n'
    const free = {
      'src/policy/retry.ts': 'export const at = (run: { performance: Date }): Date => run.performance\n',
      'src/policy/retry.test.ts': now,
      'src/store/clock.ts': now,
      'src/runtime/timing/timing.ts': now,
      'src/runtime/attempt/dates.ts': 'export const at = (ms: number) => new Date(ms)\n',
    }
    expect(lintAll(free)).toMatchObject({ status: 0 })
  })
})

describe('the dead code configuration', () => {
  const MANIFEST = { name: 'unstuck', type: 'module', workspaces: ['embedded'] }
  const GOOD_TREE = {
    'package.json': JSON.stringify(MANIFEST),
    'embedded/package.json': '{ "name": "@unstuck/embedded", "type": "module" }',
    'embedded/src/index.ts': 'export const boot = 1\n',
    'src/index.ts': "export { one } from './job/one.ts'\n",
    'src/job/one.ts': 'export const one = 1\n',
    'src/runtime/heartbeat-thread.ts': "import { one } from '../job/one.ts'\nvoid one\n",
    'src/cli/main.ts': "import { one } from '../job/one.ts'\nvoid one\n",
    'src/job/one.test.ts': "import { one } from './one.ts'\nvoid one\n",
  }

  function knip(files: Record<string, string>) {
    return runTool('knip/bin/knip.js', ['--no-progress'], 'knip.json', { ...GOOD_TREE, ...files })
  }

  it('accepts entries, tests and threads', () => {
    expect(knip({})).toMatchObject({ status: 0 })
  })

  it.each([
    ['a dead file', { 'src/job/two.ts': 'export const two = 2\n' }, /Unused files \(1\)\s+src\/job\/two\.ts/],
    [
      'a dead file of embedded',
      { 'embedded/src/two.ts': 'export const two = 2\n' },
      /Unused files \(1\)\s+embedded\/src\/two\.ts/,
    ],
    [
      'a dead export',
      { 'src/job/one.ts': 'export const one = 1\nexport const two = 2\n' },
      /Unused exports \(1\)\s+two/,
    ],
    [
      'a dead dependency',
      { 'package.json': JSON.stringify({ ...MANIFEST, dependencies: { pg: '8.0.0' } }) },
      /Unused dependencies \(1\)\s+pg/,
    ],
    [
      'an unlisted dependency',
      { 'src/job/one.ts': "import 'pg'\nexport const one = 1\n" },
      /Unlisted dependencies \(1\)\s+pg/,
    ],
  ])('%s fails', (_, files, message) => {
    const { status, output } = knip(files)
    expect(output).toMatch(message)
    expect(status).toBe(1)
  })
})
