import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { makeTree, scriptUrl } from './fixture-tree.ts'

// Each test starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const vitest = fileURLToPath(new URL('../../../../node_modules/vitest/vitest.mjs', import.meta.url))
const reporter = fileURLToPath(scriptUrl('test/closing-line-reporter'))

function runVitest(files: Record<string, string>, ...more: string[]) {
  const args = [
    vitest,
    'run',
    '--globals',
    '--root',
    makeTree(files),
    '--reporter=default',
    `--reporter=${reporter}`,
    ...more,
  ]
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  return { status, lines: stdout.trimEnd().split('\n') }
}

it('the last line counts every test case, and skipped ones are named before it', () => {
  const { status, lines } = runVitest({
    'a.test.js':
      "describe('claim', () => { it('works', () => {}); it.skip('waits', () => {}) })\nit.todo('later')",
    'b.test.js': "it('works too', () => {})",
  })
  expect(lines.slice(-3)).toEqual([
    'skipped: a.test.js › claim > waits',
    'skipped: a.test.js › later',
    '2 passed, 0 failed, 2 skipped',
  ])
  expect(status).toBe(0)
})

it('a file that cannot be loaded, a broken hook and a failed test each count as one failure', () => {
  const { status, lines } = runVitest({
    'a.test.js': "import './missing.js'\nit('never seen', () => {})",
    'b.test.js':
      "describe('d', () => { beforeAll(() => { throw new Error('no') }); it('not run', () => {}) })",
    'c.test.js': "it('fails', () => { throw new Error('no') })\nit('works', () => {})",
  })
  expect(lines.at(-1)).toBe('1 passed, 3 failed, 1 skipped')
  expect(status).toBe(1)
})

it('an error outside every test is a failure too', () => {
  const { status, lines } = runVitest({
    'a.test.js': "it('works', () => { void Promise.reject(new Error('lost')) })",
  })
  expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped')
  expect(status).toBe(1)
})

it('a failed test is named before it, and so is one that passed only at a later try', () => {
  const { lines } = runVitest({
    'a.test.js':
      "let tries = 0\nit('is slow', { retry: 1 }, () => { tries += 1; if (tries < 2) throw new Error('no') })\n" +
      "let more = 0\nit('is slower', { retry: 2 }, () => { more += 1; if (more < 3) throw new Error('no') })\n" +
      "it('breaks', { retry: 1 }, () => { throw new Error('no') })",
  })
  expect(lines.slice(-4)).toEqual([
    'passed at the second try: a.test.js › is slow',
    'passed at the third try: a.test.js › is slower',
    'failed: a.test.js › breaks',
    '2 passed, 1 failed, 0 skipped',
  ])
})

it('a filter fails if one of its titles matches no test that ran', () => {
  const files = {
    'a.test.js': "describe('claim', () => { it('works', () => {}); it('waits', () => {}) })",
    'b.test.js': "it.skip('rests', () => {})",
  }
  expect(runVitest(files, '-t', 'works|claim waits')).toMatchObject({ status: 0 })
  expect(runVitest(files, '-t', 'claim (works|rests)')).toMatchObject({ status: 0 })
  const renamed = runVitest(files, '-t', 'works|was renamed|rests')
  expect(renamed.lines.slice(-3)).toEqual([
    'failed: no test with the title was renamed ran',
    'failed: no test with the title rests ran',
    '1 passed, 2 failed, 2 skipped',
  ])
  expect(renamed.status).toBe(1)
  expect(runVitest(files, '-t', 'was renamed').status).toBe(1)
})
