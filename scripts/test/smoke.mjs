// @ts-check
// `--quick` runs the smoke of a suite: the files that show its most telling guarantee, and of the conformance suite
// only its core (src/store/conformance/index.ts).

const FLAG = '--quick'

export const isSmoke = process.argv.includes(FLAG)

/** Arguments of the command, without `--quick`. */
export const givenArguments = process.argv.slice(2).filter((argument) => argument !== FLAG)

/** @type {Record<string, string>} */
export const smokeEnvironment = isSmoke ? { UNSTUCK_TEST_SMOKE: '1' } : {}

/**
 * Arguments of npx that run a suite by its Vitest configuration, or the smoke of it.
 * @param {string} config
 * @param {string[]} smoke  files, by their paths: test/repository/parity/test-paths.test.ts checks that they exist
 */
export const vitestArguments = (config, smoke) => [
  'vitest',
  'run',
  '--config',
  config,
  ...(isSmoke ? smoke : []),
  ...givenArguments,
]
