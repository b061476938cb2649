import { defineConfig } from 'vitest/config'
import { runSettings } from '../../support/vitest/run-settings.ts'

export default defineConfig({
  test: {
    include: ['test/external/neo4j/*.test.ts'],
    globalSetup: ['test/external/neo4j/server/global-setup.ts'],
    ...runSettings,
    // One server for all files, and one of them ends it.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
