// @ts-check
// Runs the dashboard in a real browser. Without Chromium the suites are reported as skipped.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = [
  'test/browser/pages.test.ts',
  'test/browser/operators.test.ts',
  'test/browser/live.test.ts',
  'test/browser/docs-site.test.ts',
  'test/browser/pdf-converter.test.ts',
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
  const args = ['vitest', 'run', '--config', 'test/browser/vitest.config.ts', ...process.argv.slice(2)]
  const env = { ...process.env, UNSTUCK_TEST_CHROMIUM: found }
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
} else {
  for (const suite of suites) console.log(`skipped: ${suite}: the program chromium is not installed`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
}
