import { defineConfig } from 'vitest/config'
import { runSettings } from '../../support/vitest/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/external/bench/*.test.ts'],
    ...runSettings,
    // The peers are installed on first use, and a busy machine is slow.
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
})
