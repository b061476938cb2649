import { defineConfig } from 'vitest/config'
import { runSettings } from '../../support/vitest/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/external/package/*.test.ts'],
    globalSetup: ['test/external/package/global-setup.ts'],
    ...runSettings,
    // npm installs into empty projects.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
