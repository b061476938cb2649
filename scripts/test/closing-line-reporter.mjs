// @ts-check
// Ends a test run with a line for people and scripts: `N passed, N failed, N skipped`. Lists failed, skipped and flaky tests
// before it. A filter of titles (`-t 'a|b'`) fails if no test matches one of its alternatives: a smoke must not pass because a
// test was renamed.

/** @import { Reporter, TestCase, TestModule, Vitest } from 'vitest/node' */

/** @implements {Reporter} */
export default class ClosingLineReporter {
  #isWatching = false
  /** @type {RegExp[]} */
  #titles = []

  /** @param {Vitest} vitest */
  onInit(vitest) {
    this.#isWatching = vitest.config.watch
    this.#titles = alternativesOf(vitest.config.testNamePattern)
  }

  /**
   * @param {readonly TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const unmatched = this.#isWatching ? [] : this.#titles.filter((title) => !hasRun(modules, title))
    if (unmatched.length > 0) process.exitCode = 1
    const text = closingText(modules, unhandledErrors.length, unmatched)
    // Coverage and teardown still print after this event; nothing prints after exit.
    if (this.#isWatching) process.stdout.write(text)
    else process.once('exit', () => process.stdout.write(text))
  }
}

/**
 * A pattern with a group or an escape is one alternative.
 * @param {RegExp | undefined} pattern
 */
function alternativesOf(pattern) {
  if (pattern === undefined) return []
  return /[(\\]/.test(pattern.source) ? [pattern] : pattern.source.split('|').map((part) => new RegExp(part))
}

/**
 * @param {readonly TestModule[]} modules
 * @param {RegExp} title
 */
function hasRun(modules, title) {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  return tests.some((test) => test.result().state !== 'skipped' && title.test(titleOf(test)))
}

/**
 * An error outside a test (a file that does not load, a hook, an unhandled error) counts as one failure: a failed run must not
 * report "0 failed".
 * @param {readonly TestModule[]} modules
 * @param {number} unhandledErrorCount
 * @param {RegExp[]} unmatched  filters of titles that no test matched
 */
function closingText(modules, unhandledErrorCount, unmatched) {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const groups = modules.flatMap((module) => [module, ...module.children.allSuites()])
  const passed = tests.filter((test) => test.result().state === 'passed').length
  const failed = tests.filter((test) => test.result().state === 'failed')
  const retried = tests.filter(
    (test) => test.result().state === 'passed' && test.diagnostic()?.flaky === true,
  )
  const broken =
    groups.filter((group) => group.errors().length > 0).length + unhandledErrorCount + unmatched.length
  const skipped = tests.filter(
    (test) => test.result().state === 'skipped' || test.result().state === 'pending',
  )
  const closingLine = `${passed} passed, ${failed.length + broken} failed, ${skipped.length} skipped`
  const lines = [
    ...skipped.map((test) => `skipped: ${nameOf(test)}`),
    ...retried.map((test) => `passed at the ${lastTryOf(test)} try: ${nameOf(test)}`),
    ...failed.map((test) => `failed: ${nameOf(test)}`),
    ...unmatched.map(({ source }) => `failed: no test with the title ${source} ran`),
    closingLine,
  ]
  return `\n${lines.join('\n')}\n`
}

/** @param {TestCase} test */
const lastTryOf = (test) => (test.diagnostic()?.retryCount === 1 ? 'second' : 'third')

/** @param {TestCase} test */
const nameOf = (test) => `${test.module.relativeModuleId} › ${test.fullName}`

/**
 * As Vitest matches it.
 * @param {TestCase} test
 */
const titleOf = (test) => test.fullName.replaceAll(' > ', ' ')
