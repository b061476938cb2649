// npm run sim: runs seeds, prints what was violated, and for the first violation the shortest history that shows it.
import { isMainThread } from 'node:worker_threads'
import { readSimOptions, type SimOptions } from './options.ts'
import { runSeed } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { runInThreads, serveSeeds } from './seed-threads.ts'
import { shrink } from './shrink.ts'
import { printResult, printTimeline } from './timeline.ts'

// Thousands of errors are thrown on purpose, and none of their stacks is read.
Error.stackTraceLimit = 0
if (isMainThread) await run(readSimOptions())
else serveSeeds()

async function run(options: SimOptions): Promise<void> {
  if (options.seed === undefined) await runMany(options)
  else await runOne(options.seed, options)
}

async function runMany({ from, seeds, first: isFirstOnly, json, threads, coverage }: SimOptions) {
  const onProgress = (done: number, violated: number) => {
    if (process.stderr.isTTY || done % 1_000 === 0)
      process.stderr.write(`${done} of ${seeds} seeds, ${violated} with violations\n`)
  }
  const result = await runSeeds(from, seeds, {
    isFirstOnly,
    onProgress,
    onFailed: ({ seed, invariants }) => process.stderr.write(`seed ${seed}: ${invariants.join(', ')}\n`),
    ...(threads > 1 && { outcomes: runInThreads(threads, new URL(import.meta.url)) }),
  })
  printResult(result, { isJson: json, isCovered: coverage })
  const [first] = result.failed
  if (first === undefined) return
  process.exitCode = 1
  if (!json) printTimeline(await shrink(first.seed, first.invariants[0] ?? ''))
}

async function runOne(seed: number, { trace, json }: SimOptions) {
  const result = await runSeed(seed, true)
  if (trace) printTimeline(result, true)
  const { violations, digest } = result
  if (json) process.stdout.write(`${JSON.stringify({ seed, digest, violations })}\n`)
  else process.stdout.write(`seed ${seed}: history ${digest}, ${violations.length} violations\n`)
  if (violations.length === 0) return
  process.exitCode = 1
  if (!trace && !json) printTimeline(await shrink(seed, violations[0]?.invariant ?? ''))
}
