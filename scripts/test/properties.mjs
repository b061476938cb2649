// @ts-check
// Runs the property tests many times, in parts spread over processes. Each part has its own seed; UNSTUCK_PROPERTY_SEED repeats one.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { readOptions, wholeNumber } from '../support/read-options.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const MODEL = 'test/model/lease-model.test.ts'
/** Runs of a process: a part that fails or is interrupted costs no more than these. */
const PART = 1_000
/** The model makes one run on the clip table for each four on the native one. */
const NATIVE_SHARE = 0.8

const USAGE = `npm run test:properties -- [options]

  --runs R   runs of each property (default: 500)
  --model    only the model of the stores; R counts the runs on both tables together
  --jobs J   number of processes (default: number of cores)
  --seed S   seed of the first part; the others count up from it
`
const { runs, jobs, seed, isModel } = readOptions(
  USAGE,
  {
    runs: { type: 'string', default: '500' },
    model: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
  (values) => {
    const runs = wholeNumber('runs', values.runs)
    return {
      runs,
      jobs: Math.min(wholeNumber('jobs', values.jobs), runs),
      seed: wholeNumber('seed', values.seed, 0),
      isModel: values.model,
    }
  },
)
const parts = partsOf(Math.ceil(runs / Math.ceil(runs / PART / jobs) / jobs))
const startedAtMs = performance.now()
/** @type {number[]} */
const failed = []
await Promise.all(Array.from({ length: jobs }, runParts))
const seconds = Math.round((performance.now() - startedAtMs) / 1000)
const seeds = failed.length === 0 ? '' : ` (${failed.join(', ')})`
console.log(
  `${runs} runs in ${jobs} processes, seeds from ${seed}: ${failed.length} parts failed${seeds}, ${seconds} s`,
)
process.exitCode = failed.length > 0 ? 1 : 0

/** @param {number} size */
function partsOf(size) {
  return Array.from({ length: Math.ceil(runs / size) }, (_, nth) => ({
    seed: seed + nth,
    runs: Math.min(size, runs - nth * size),
  }))
}

async function runParts() {
  for (let part = parts.shift(); part !== undefined; part = parts.shift())
    if ((await runPart(part)) !== 0) failed.push(part.seed)
}

/**
 * @param {{ seed: number, runs: number }} part
 * @returns {Promise<number | null>}
 */
function runPart({ seed: own, runs: count }) {
  // Generous: on a busy machine each run may take a second.
  const limit = ['--testTimeout', String(60_000 + count * 1_000)]
  const suites = isModel ? [MODEL] : [MODEL, '.property.test.ts']
  const child = spawn('npx', ['vitest', 'run', ...suites, ...limit], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      UNSTUCK_PROPERTY_RUNS: String(isModel ? Math.ceil(count * NATIVE_SHARE) : count),
      UNSTUCK_PROPERTY_SEED: String(own),
    },
  })
  return new Promise((resolve) => child.once('exit', resolve))
}
