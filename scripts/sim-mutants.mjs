// @ts-check
// Shows that the simulator can fail: removes one rule at a time and looks for the first of 1,000 seeds that reports it. Exits with
// 1 if one is not reported that is not known to be open. Numbers as arguments select mutants.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleSimulator } from './bundle/bundle-simulator.mjs'

/** @import { Edit } from './bundle/bundle-simulator.mjs' */
/** @typedef {Edit & { name: string, isOpen?: boolean }} Mutant `isOpen`: not reported so far */

const SEEDS = 1_000
/** Some mutants make a run endless. */
const TIME_BOX_MS = 600_000

/** @type {Mutant[]} */
const MUTANTS = [
  // Mended defects, put back.
  {
    name: 'claiming ahead: as many as before, whatever the slots need',
    file: 'claim/prefetch.ts',
    from: 'return Math.floor(Math.min(MOST, GROWTH * this.#startedWithin(soonMs), byDuration))',
    to: 'return 20 * this.#slots',
  },
  {
    name: 'poison cohorts: a last chance is not run alone',
    file: 'memory/lifecycle/claim.ts',
    from: 'const hasLastChance = (job: Job) => isLastChance(policy, countsOf(policy, job))',
    to: 'const hasLastChance = (_: Job) => false',
  },
  {
    name: 'outage by workers: one silent worker is an outage',
    file: 'reaping/outages.ts',
    from: '.size > 1 && heardMs < missedMs',
    to: '.size > 0 && heardMs < missedMs',
  },
  {
    name: 'outage by workers: all silent workers are dead',
    file: 'reaping/outages.ts',
    from: '.size > 1 && heardMs < missedMs',
    to: '.size > 1_000',
  },
  {
    name: 'tx: begins before the extension of the lease',
    file: 'attempt/job-transaction.ts',
    from: 'await extendLease(owner, heartbeat, beginWithinMs + txTimeoutMs)',
    to: '',
  },
  {
    name: 'late hand-over: a call that is under way is not waited for',
    file: 'heartbeat/lease-thread.ts',
    from: 'leases === handedOver || earlier.has(leases)',
    to: 'leases === handedOver && false',
  },
  {
    name: 'late hand-over: the second try of an earlier heartbeat is not waited for',
    file: 'heartbeat/lease-thread.ts',
    from: 'const second = this.#options.open()\n    tries.push(this.#callOn(second, leases, options))',
    to: 'const second = this.#options.open()\n    tries.push(this.#callOn(second, [...leases], options))',
  },
  {
    name: 'a claim is not let go if its last job was handed over',
    file: 'heartbeat/lease-changes.ts',
    from: 'if (this.#dropped.get(leaseId)?.[0] === ALL) return',
    to: '',
  },
  {
    name: 'holds: a hold begins anew with every outage',
    file: 'reaping/outages.ts',
    from: 'return thereMs < leaseMs\n',
    to: 'return true\n',
  },
  {
    name: 'presence: without a grace',
    file: 'database/sessions.ts',
    from: 'this.#rows.set(workerId, {\n      graceMs,',
    to: 'this.#rows.set(workerId, {\n      graceMs: 0,',
  },
  {
    name: 'presence: without proof of life',
    file: 'heartbeat/worker-presence.ts',
    from: 'void showLife(lossAtMs)',
    to: '',
  },
  {
    name: 'presence: across an epoch of the server',
    file: 'database/sim-database.ts',
    from: 'new Sessions(state, () => this.#epoch)',
    to: 'new Sessions(state, () => 0)',
  },
  // Mutants of TypeScript.
  {
    name: 'a worker completes with any lease',
    file: 'memory/lifecycle/outcomes.ts',
    from: "job?.status === 'running' && job.leaseId === lease.leaseId ? job : undefined",
    to: "job?.status === 'running' ? job : undefined",
  },
  {
    name: 'a sweep takes leases that have not ended',
    file: 'reaping/reap-plan.ts',
    from: 'return fromMs !== null && fromMs < moment.nowMs',
    to: 'return fromMs !== null && fromMs < moment.nowMs + 1_500',
  },
  {
    name: 'a job is claimed before its time',
    file: 'memory/state/job-table.ts',
    from: 'if (dueMs(job) <= nowMs) yield job',
    to: 'if (dueMs(job) < Number.POSITIVE_INFINITY) yield job',
  },
  {
    name: 'a release spends an attempt',
    file: 'memory/lifecycle/outcomes.ts',
    from: 'attempt: Math.max(0, job.attempt - given)',
    to: 'attempt: job.attempt',
  },
  {
    name: 'the fence does not grow',
    file: 'memory/lifecycle/claim.ts',
    from: 'fence: job.fence + 1,',
    to: 'fence: job.fence,',
  },
  {
    name: 'heartbeats are too rare for the lease',
    file: 'heartbeat/lease-thread.ts',
    from: 'timing.setInterval(() => this.#tick(), options.intervalMs)',
    to: 'timing.setInterval(() => this.#tick(), 5 * options.intervalMs)',
  },
  {
    name: 'a slot is not freed',
    file: 'worker/worker.ts',
    from: 'this.#handling--\n',
    to: '',
  },
  {
    name: 'a completion whose answer was lost is not repeated',
    isOpen: true,
    file: 'attempt/job-runner.ts',
    from: 'retryAfterError(error, write, () => this.#isHopeless).then(',
    to: 'Promise.reject<Awaited<ReturnType<typeof write>>>(error).then(',
  },
  {
    name: 'a worker that leaves does not release its jobs',
    file: 'attempt/job-runner.ts',
    from: "if (this.#abortCause === 'shutdown') return this.#release()",
    to: "if (this.#abortCause === 'shutdown') return new Promise(() => {})",
  },
  {
    name: 'a worker does not sweep',
    file: 'services/reaper.ts',
    from: 'for (const table of tables) await table.sweepIfDue()',
    to: 'await tables[0]?.sweepIfDue(); await new Promise(() => {})',
  },
]

const only = process.argv.slice(2).map(Number)

/**
 * The first violation that a mutant shows.
 * @param {string} bundle
 */
function findViolation(bundle) {
  const args = [fileURLToPath(bundle), '--seeds', String(SEEDS), '--first', '--json']
  const { stdout, signal } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    timeout: TIME_BOX_MS,
  })
  if (signal !== null) return `✗ not within ${TIME_BOX_MS / 1_000} s`
  const [first] = /** @type {{ failed: { seed: number, invariants: string[] }[] }} */ (JSON.parse(stdout))
    .failed
  return first === undefined
    ? `✗ in none of ${SEEDS} seeds`
    : `✓ seed ${first.seed}, ${first.invariants.join(', ')}`
}

for (const [index, { name, isOpen = false, ...edit }] of MUTANTS.entries()) {
  if (only.length > 0 && !only.includes(index + 1)) continue
  const found = findViolation(await bundleSimulator(`mutant-${index + 1}`, [edit]))
  if (found.startsWith('✗') && !isOpen) process.exitCode = 1
  process.stdout.write(`${found}: ${index + 1} ${name}${isOpen ? ' (open)' : ''}\n`)
}
