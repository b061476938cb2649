// @ts-check
// Runs the property tests many times, spread over processes. Each has its own seed; UNSTUCK_PROPERTY_SEED repeats a failure.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { readOptions, wholeNumber } from '../support/read-options.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = ['test/model/lease-model.test.ts', '.property.test.ts']

const USAGE = `npm run test:properties -- [options]

  --runs R   runs of each property (default: 500)
  --jobs J   number of processes (default: number of cores)
  --seed S   seed of the first process; the others count up from it
`
const { runs, jobs, seed } = readOptions(
  USAGE,
  {
    runs: { type: 'string', default: '500' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
  (values) => {
    const runs = wholeNumber('runs', values.runs)
    return {
      runs,
      jobs: Math.min(wholeNumber('jobs', values.jobs), runs),
      seed: wholeNumber('seed', values.seed, 0),
    }
  },
)
const startedAtMs = performance.now()
const statuses = await Promise.all(Array.from({ length: jobs }, (_, index) => runShare(index)))
const failed = statuses.filter((status) => status !== 0).length
const seconds = Math.round((performance.now() - startedAtMs) / 1000)
console.log(`${runs} runs in ${jobs} processes, seeds from ${seed}: ${failed} failed, ${seconds} s`)
process.exitCode = failed > 0 ? 1 : 0

/**
 * @param {number} index
 * @returns {Promise<number | null>}
 */
function runShare(index) {
  const share = Math.ceil(runs / jobs)
  // Generous: on a busy machine each run may take a second.
  const limit = ['--testTimeout', String(60_000 + share * 1_000)]
  const child = spawn('npx', ['vitest', 'run', ...suites, ...limit], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      UNSTUCK_PROPERTY_RUNS: String(share),
      UNSTUCK_PROPERTY_SEED: String(seed + index),
    },
  })
  return new Promise((resolve) => child.once('exit', resolve))
}
