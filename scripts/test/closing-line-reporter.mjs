// @ts-check
// Ends a test run with a line for people and scripts: `N passed, N failed, N skipped`. Lists failed, skipped and flaky tests
// before it.

/** @import { Reporter, TestCase, TestModule, Vitest } from 'vitest/node' */

/** @implements {Reporter} */
export default class ClosingLineReporter {
  #isWatching = false

  /** @param {Vitest} vitest */
  onInit(vitest) {
    this.#isWatching = vitest.config.watch
  }

  /**
   * @param {readonly TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const text = closingText(modules, unhandledErrors.length)
    // Coverage and teardown still print after this event; nothing prints after exit.
    if (this.#isWatching) process.stdout.write(text)
    else process.once('exit', () => process.stdout.write(text))
  }
}

/**
 * An error outside a test (a file that does not load, a hook, an unhandled error) counts as one failure: a failed run must not
 * report "0 failed".
 * @param {readonly TestModule[]} modules
 * @param {number} unhandledErrorCount
 */
function closingText(modules, unhandledErrorCount) {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const groups = modules.flatMap((module) => [module, ...module.children.allSuites()])
  const passed = tests.filter((test) => test.result().state === 'passed').length
  const failed = tests.filter((test) => test.result().state === 'failed')
  const retried = tests.filter(
    (test) => test.result().state === 'passed' && test.diagnostic()?.flaky === true,
  )
  const broken = groups.filter((group) => group.errors().length > 0).length + unhandledErrorCount
  const skipped = tests.filter(
    (test) => test.result().state === 'skipped' || test.result().state === 'pending',
  )
  const closingLine = `${passed} passed, ${failed.length + broken} failed, ${skipped.length} skipped`
  const lines = [
    ...skipped.map((test) => `skipped: ${nameOf(test)}`),
    ...retried.map((test) => `passed at the ${lastTryOf(test)} try: ${nameOf(test)}`),
    ...failed.map((test) => `failed: ${nameOf(test)}`),
    closingLine,
  ]
  return `\n${lines.join('\n')}\n`
}

/** @param {TestCase} test */
const lastTryOf = (test) => (test.diagnostic()?.retryCount === 1 ? 'second' : 'third')

/** @param {TestCase} test */
const nameOf = (test) => `${test.module.relativeModuleId} › ${test.fullName}`
