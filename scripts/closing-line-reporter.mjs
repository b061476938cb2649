// @ts-check
// Ends a test run with one line that people and scripts can rely on: `N passed, N failed, N skipped`.
// Skipped tests are named before it, so that nothing is silently green.

/** @import { Reporter, TestModule, Vitest } from 'vitest/node' */

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
    // Coverage and teardown still print after this event; at exit nothing does.
    if (this.#isWatching) process.stdout.write(text)
    else process.once('exit', () => process.stdout.write(text))
  }
}

/**
 * What breaks outside a test case (a file that does not load, a hook, an unhandled error) counts as one failure,
 * because a run that ends red must not say "0 failed".
 * @param {readonly TestModule[]} modules
 * @param {number} unhandledErrorCount
 */
function closingText(modules, unhandledErrorCount) {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const groups = modules.flatMap((module) => [module, ...module.children.allSuites()])
  const passed = tests.filter((test) => test.result().state === 'passed').length
  const failed = tests.filter((test) => test.result().state === 'failed').length
  const broken = groups.filter((group) => group.errors().length > 0).length + unhandledErrorCount
  const skipped = tests.filter(
    (test) => test.result().state === 'skipped' || test.result().state === 'pending',
  )
  const names = skipped.map((test) => `skipped: ${test.module.relativeModuleId} › ${test.fullName}`)
  const closingLine = `${passed} passed, ${failed + broken} failed, ${skipped.length} skipped`
  return `\n${[...names, closingLine].join('\n')}\n`
}
