import { defineConfig } from 'vitest/config'
import { runSettings } from '../../support/vitest/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/external/clients/*.test.ts'],
    globalSetup: ['test/support/vitest/global-setup.ts'],
    ...runSettings,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
