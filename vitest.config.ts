import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { runSettings } from './test/support/run-settings.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', '{dashboard,embedded}/src/**/*.test.ts', 'test/**/*.test.ts'],
    // Need a program that is not everywhere, and have commands of their own.
    exclude: [
      ...configDefaults.exclude,
      'test/pgbouncer/**',
      'test/teams/**',
      'test/cron/**',
      'test/bun/**',
      'test/neo4j/**',
      'test/bench/**',
      'test/browser/**',
      'test/package/**',
    ],
    globalSetup: ['test/support/global-setup.ts'],
    ...runSettings,
    // Most tests wait for the database: more of them at once than there are cores.
    maxWorkers: 4,
    // Files of one process share what they import: a third of the time of the small ones. None leaves a mock or a clock behind.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
