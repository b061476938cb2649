// @ts-check
// Attaches a table of two million rows while its old workers keep running.
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('npx', ['vitest', 'run', 'test/migrate/attach/load.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, UNSTUCK_ATTACH_ROWS: process.env['UNSTUCK_ATTACH_ROWS'] ?? '2000000' },
})
process.exit(status ?? 1)
