// Runs the tests of this folder, and ends with the closing line that people and scripts rely on.
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

const files = ['dispatch.test.mjs', 'guide.test.mjs'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
)
const tests = run({ files, concurrency: false })
tests.on('test:summary', ({ file, counts, success }) => {
  if (file !== undefined) return
  const failed = counts.tests - counts.passed - counts.skipped
  process.exitCode = success ? 0 : 1
  process.once('exit', () =>
    console.log(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`),
  )
})
tests.compose(spec).pipe(process.stdout)
