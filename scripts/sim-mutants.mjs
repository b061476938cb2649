// @ts-check
// Shows that the simulator can fail: removes one rule at a time and looks for the first of 1,000 seeds that reports it.
import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { bundleSimulator } from './bundle/bundle-simulator.mjs'
import { readOptions, wholeNumber } from './support/read-options.mjs'
import { mutants } from './support/sim-mutants/all.mjs'

const USAGE = `npm run sim:mutants -- [options]

  --only 3,20   run these mutants only
  --jobs N      how many processes run at a time (default: number of cores)
  --help        print this

Prints a table of the first seed that reports each mutant, and progress on stderr. Exits with 1 if one is not reported.
`

const SEEDS = 1_000
/** 1,000 seeds take half a minute, and far longer on a busy machine; a mutant may make a run endless. */
const TIME_BOX_MS = 900_000

const { jobs, only } = readOptions(
  USAGE,
  { jobs: { type: 'string', default: String(availableParallelism()) }, only: { type: 'string' } },
  (values) => ({
    jobs: wholeNumber('jobs', values.jobs),
    only: new Set(values.only?.split(',').map((text) => wholeNumber('only', text))),
  }),
)

/** @typedef {{ failed: { seed: number, invariants: string[] }[], cpuSeconds: number }} Result */

/**
 * @param {string} bundle
 * @returns {Promise<Result>}
 */
async function findViolations(bundle) {
  const args = [fileURLToPath(bundle), '--seeds', String(SEEDS), '--first', '--json']
  const options = { maxBuffer: 2 ** 26, timeout: TIME_BOX_MS }
  /** @type {string} */
  const stdout = await new Promise((resolve) => {
    // A violation is an exit with 1.
    execFile(process.execPath, args, options, (_, text) => resolve(text))
  })
  if (stdout === '') return { failed: [], cpuSeconds: TIME_BOX_MS / 1_000 }
  return /** @type {Result} */ (JSON.parse(stdout))
}

/** @type {Map<number, string>} */
const rows = new Map()
let [missed, cpu] = [0, 0]
const queue = [...mutants.entries()].filter(([index]) => only.size === 0 || only.has(index + 1))

async function runQueue() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [index, { name, ...edit }] = next
    const { failed, cpuSeconds } = await findViolations(await bundleSimulator(`mutant-${index + 1}`, [edit]))
    const [first] = failed
    if (first === undefined) missed++
    cpu += cpuSeconds
    const [seed, invariants] = first === undefined ? ['none', ''] : [first.seed, first.invariants.join(', ')]
    rows.set(index, `| ${index + 1} | ${name} | ${seed} | ${invariants} |`)
    process.stderr.write(
      `${index + 1} ${name}: ${seed} ${invariants} (${cpuSeconds.toFixed(1)} CPU-seconds)\n`,
    )
  }
}

await Promise.all(Array.from({ length: jobs }, runQueue))
const table = mutants.flatMap((_, index) => rows.get(index) ?? [])
process.stdout.write(
  ['| | Mutant | Seed | Invariant |', '| ---: | --- | ---: | --- |', ...table, ''].join('\n'),
)
process.stderr.write(`${rows.size - missed} of ${rows.size} reported, ${cpu.toFixed(0)} CPU-seconds\n`)
process.exitCode = missed > 0 ? 1 : 0
