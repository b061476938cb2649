// npm run sim: runs seeds, prints what was violated, and for the first violation the shortest history that shows it.
import { readSimOptions } from './options.ts'
import { runSeed } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { shrink } from './shrink.ts'
import { printResult, printTimeline } from './timeline.ts'

const options = readSimOptions()
if (options.seed === undefined) await runMany()
else await runOne(options.seed)

async function runMany() {
  const { from, seeds, first: isFirstOnly, json } = options
  const onProgress = (done: number, violated: number) => {
    if (process.stderr.isTTY || done % 1_000 === 0)
      process.stderr.write(`${done} of ${seeds} seeds, ${violated} with violations\n`)
  }
  const result = await runSeeds(from, seeds, { isFirstOnly, onProgress })
  printResult(result, json)
  const [first] = result.failed
  if (first === undefined) return
  process.exitCode = 1
  if (!json) printTimeline(await shrink(first.seed, first.invariants[0] ?? ''))
}

async function runOne(seed: number) {
  const result = await runSeed(seed, true)
  if (options.trace) printTimeline(result, true)
  const { violations, digest } = result
  if (options.json) process.stdout.write(`${JSON.stringify({ seed, digest, violations })}\n`)
  else process.stdout.write(`seed ${seed}: history ${digest}, ${violations.length} violations\n`)
  if (violations.length === 0) return
  process.exitCode = 1
  if (!options.trace && !options.json) printTimeline(await shrink(seed, violations[0]?.invariant ?? ''))
}
