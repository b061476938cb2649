import { defineConfig } from 'vitest/config'
import { runSettings } from '../../support/vitest/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/external/cron/*.test.ts'],
    globalSetup: ['test/external/cron/global-setup.ts'],
    ...runSettings,
    // pg_cron starts at full minutes.
    testTimeout: 150_000,
    hookTimeout: 150_000,
  },
})
