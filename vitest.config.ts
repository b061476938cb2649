import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/vitest/longest-first.ts'
import { runSettings } from './test/support/vitest/run-settings.ts'
import { needPrograms } from './test/support/vitest/suites.ts'

/** Every test that needs no other program: what `npx vitest run <file>` finds. See test/support/vitest/suites.ts. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', '{dashboard,embedded}/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...needPrograms],
    globalSetup: ['test/support/vitest/global-setup.ts'],
    ...runSettings,
    // Most tests wait for the database: more of them at once than there are cores.
    maxWorkers: 4,
    // Files of one process share what they import: a third of the time of the small ones. None leaves a mock or a clock behind.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
