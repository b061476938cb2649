import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/bun/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
