import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { formatProblem, makeTree, scriptUrl } from './fixture-tree.ts'

// Each test starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

interface Trace {
  requirements: { id: string; isOpen: boolean; tests: { file: string; title: string }[] }[]
  problems: { path: string; line: number; message: string }[]
}

const { trace } = (await import(scriptUrl('trace').href)) as { trace: (root: string) => Trace }
const command = fileURLToPath(scriptUrl('trace'))

const DOCUMENT = `# Requirements
- LEASE-1 A claim picks waiting jobs.
- **LEASE-2** A claim sets the owner,
  and the end of the lease.
- REAP-9 One event row for each action. (open)
`
const TESTS =
  "it('LEASE-1 two workers never get the same job', () => {})\ntest('LEASE-1 LEASE-2 both hold', () => {})"

function findProblems(document: string, tests: string): string[] {
  return trace(makeTree({ 'docs/requirements.md': document, 'test/a.test.ts': tests })).problems.map(
    formatProblem,
  )
}

describe('requirements', () => {
  it('pass when each that is not open has a test', () => {
    expect(findProblems(DOCUMENT, TESTS)).toEqual([])
  })

  it('are found in every test file and in the conformance suite', () => {
    const { requirements } = trace(
      makeTree({
        'docs/requirements.md': DOCUMENT,
        'src/policy/a.test.ts': "describe('LEASE-1 claims', () => {})",
        'src/store/conformance/lifecycle/claim.ts': "it.each([1])('LEASE-1, LEASE-2: claim %i', () => {})",
        'embedded/test/b.test.ts': 'it.skipIf(old)(`LEASE-2 ends ${what}`, () => {})',
        'src/policy/a.ts': "it('LEASE-1 is no test file', () => {})",
      }),
    )
    expect(
      requirements.map(({ id, tests }) => [id, tests.map(({ file, title }) => `${file} › ${title}`)]),
    ).toEqual([
      [
        'LEASE-1',
        [
          'src/policy/a.test.ts › LEASE-1 claims',
          'src/store/conformance/lifecycle/claim.ts › LEASE-1, LEASE-2: claim %i',
        ],
      ],
      [
        'LEASE-2',
        [
          'embedded/test/b.test.ts › LEASE-2 ends ${what}',
          'src/store/conformance/lifecycle/claim.ts › LEASE-1, LEASE-2: claim %i',
        ],
      ],
      ['REAP-9', []],
    ])
  })

  it('fail without a test', () => {
    expect(findProblems(DOCUMENT, "it('LEASE-1 x', () => {})")).toEqual([
      'docs/requirements.md:3 LEASE-2 has no test',
    ])
  })

  it('are not covered by a test that never runs, nor by an id in the middle of a title', () => {
    const tests = `${TESTS.split('\n')[0]}\nit.todo('LEASE-2 x')\nit.skip('LEASE-2 x', () => {})\nit('as LEASE-2 says', () => {})`
    expect(findProblems(DOCUMENT, tests)).toEqual(['docs/requirements.md:3 LEASE-2 has no test'])
  })

  it('fail when an id is defined twice', () => {
    expect(findProblems(`${DOCUMENT}- LEASE-1 Again. (open)`, TESTS)).toEqual([
      'docs/requirements.md:6 LEASE-1 is defined twice',
    ])
  })

  it('fail when the document is missing', () => {
    expect(trace(makeTree({})).problems.map(formatProblem)).toEqual(['docs/requirements.md:1 is missing'])
  })
})

it('a test that names an unknown requirement fails', () => {
  expect(findProblems(DOCUMENT, `${TESTS}\nit('LEASE-1 LEASE-44 x', () => {})`)).toEqual([
    'test/a.test.ts:3 names LEASE-44, which is not in docs/requirements.md',
  ])
})

describe('the command', () => {
  it('prints the table with the open ones counted at the end', () => {
    const root = makeTree({ 'docs/requirements.md': DOCUMENT, 'test/a.test.ts': TESTS })
    expect(execFileSync(process.execPath, [command, root], { encoding: 'utf8' })).toBe(`\
LEASE-1  test/a.test.ts › LEASE-1 two workers never get the same job
         test/a.test.ts › LEASE-1 LEASE-2 both hold
LEASE-2  test/a.test.ts › LEASE-1 LEASE-2 both hold
REAP-9   (open)

3 requirements, 2 tests, 1 open: REAP-9
`)
  })

  it('prints the counts alone on request', () => {
    const root = makeTree({ 'docs/requirements.md': DOCUMENT, 'test/a.test.ts': TESTS })
    const printed = execFileSync(process.execPath, [command, root, '--summary'], { encoding: 'utf8' })
    expect(printed).toBe('3 requirements, 2 tests, 1 open: REAP-9\n')
  })

  it('answers JSON on request and exits 1 when something is missing', () => {
    const root = makeTree({ 'docs/requirements.md': DOCUMENT })
    const { status, stdout, stderr } = spawnSync(process.execPath, [command, root, '--json'], {
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr).toContain('docs/requirements.md:2 LEASE-1 has no test\n')
    const { requirements } = JSON.parse(stdout) as Trace
    expect(requirements.map(({ id, isOpen }) => [id, isOpen])).toEqual([
      ['LEASE-1', false],
      ['LEASE-2', false],
      ['REAP-9', true],
    ])
  })
})
