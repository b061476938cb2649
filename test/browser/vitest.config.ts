import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    // One browser and one server at a time: lease bars that starve look late.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
