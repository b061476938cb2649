import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/cron/*.test.ts'],
    globalSetup: ['test/cron/global-setup.ts'],
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    // pg_cron starts at full minutes.
    testTimeout: 150_000,
    hookTimeout: 150_000,
  },
})
