import { defineConfig } from 'vitest/config'
import { runSettings } from '../../support/vitest/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/external/browser/*.test.ts'],
    globalSetup: ['test/support/vitest/global-setup.ts'],
    ...runSettings,
    // One browser and one server at a time: lease bars that starve look late.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
