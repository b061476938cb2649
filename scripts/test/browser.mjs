// @ts-check
// Runs the dashboard in a real browser; `--quick` runs a smoke. Without Chromium the suites are reported as skipped.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { smokeEnvironment, vitestArguments } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = [
  'test/external/browser/pages.test.ts',
  'test/external/browser/dialogs.test.ts',
  'test/external/browser/operators.test.ts',
  'test/external/browser/live.test.ts',
  'test/external/browser/incidents-queues.test.ts',
  'test/external/browser/incidents-workers.test.ts',
  'test/external/browser/stories.test.ts',
  'test/external/browser/shards.test.ts',
  'test/external/browser/docs-site.test.ts',
  'test/external/browser/pdf-converter.test.ts',
]

/** A killed worker on a real server, who may see what, and one page in every state. */
const smoke = [
  'a worker process that is killed',
  'who has to sign in',
  'SEE-5 /jobs ',
  'with the keyboard alone',
  'SEE-7 SEE-8 stuck',
]

// The headless shell draws no window and takes half the CPU time.
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const found = [process.env['UNSTUCK_TEST_CHROMIUM'] ?? '', ...programs]
  .map(locate)
  .find((path) => path !== undefined)

/** @param {string} program */
function locate(program) {
  const { status, stdout } = spawnSync('which', [program], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

if (found !== undefined) {
  const args = vitestArguments('test/external/browser/vitest.config.ts', [
    'test/external/browser/live.test.ts',
    'test/external/browser/pages.test.ts',
    'test/external/browser/incidents-workers.test.ts',
    '-t',
    smoke.join('|'),
  ])
  const env = { ...process.env, ...smokeEnvironment, UNSTUCK_TEST_CHROMIUM: found }
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
} else {
  for (const suite of suites) console.log(`skipped: ${suite}: the program chromium is not installed`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
}
