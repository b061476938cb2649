import { defineConfig } from 'vitest/config'
import { runSettings } from '../support/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/teams/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    ...runSettings,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
