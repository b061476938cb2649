// @ts-check
// Shows that the simulator can fail: removes one rule at a time and looks for the first of 1,000 seeds that reports it.
import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { bundleSimulator } from './bundle/bundle-simulator.mjs'
import { readOptions, wholeNumber } from './support/read-options.mjs'
import { workerMutants } from './support/worker-mutants.mjs'

/** @import { Mutant } from './support/worker-mutants.mjs' */

const USAGE = `npm run sim:mutants -- [options]

  --only 3,20   run these mutants only
  --jobs N      how many processes run at a time (default: number of cores)
  --help        print this

Prints a table of the first seed that reports each mutant, and progress on stderr. Exits with 1 if one is not reported.
`

const SEEDS = 1_000
/** 1,000 seeds take half a minute, and far longer on a busy machine; a mutant may make a run endless. */
const TIME_BOX_MS = 900_000

/** @type {Mutant[]} */
const MUTANTS = [
  // Mended defects, put back.
  {
    name: 'claiming ahead: as many as before, whatever the slots need',
    file: 'claim/prefetch.ts',
    from: 'return Math.floor(Math.min(MOST, byEvidence, byDuration))',
    to: 'return 20 * this.#slots',
  },
  {
    name: 'poison cohorts: a last chance is not run alone',
    file: 'memory/lifecycle/claim.ts',
    from: 'return isLastChance(policy, countsOf(policy, job))',
    to: 'return isLastChance(policy, countsOf(policy, job)) && false',
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
    from: 'answer: this.#callOn(connection, leases, options)',
    to: 'answer: this.#callOn(connection, [...leases], options)',
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
  {
    name: 'hints: the worker whose turn it is does not claim',
    file: 'claim/hinted-wakes.ts',
    from: 'else this.#options.claim()',
    to: 'else void 0',
  },
  {
    name: 'hints: a job that comes later is forgotten',
    file: 'claim/hinted-wakes.ts',
    from: 'else if (dueInMs > 0) this.#claims.add(dueInMs)',
    to: 'else if (dueInMs > 0) return',
  },
  {
    name: 'hints: nobody looks after a worker that was to claim',
    file: 'claim/hinted-wakes.ts',
    from: 'if (turnMs > 0) this.#looks.add(dueInMs + turnMs)',
    to: 'if (turnMs > 0) return',
  },
  {
    name: 'hints: a listener that fails does not say so',
    file: 'listening/listener.ts',
    from: 'if (!this.#isFailing) this.#options.onFailed(`${messageOf(error)}; polling continues`)',
    to: '',
  },
  {
    name: 'a worker runs one job more than it has slots',
    file: 'worker/worker.ts',
    from: 'this.#options.concurrency - this.#handling\n',
    to: 'this.#options.concurrency + 1 - this.#handling\n',
  },
  {
    name: 'a worker claims although its heartbeats fail',
    file: 'worker/worker.ts',
    from: 'return this.#options.heartbeat.isHealthy() && this.#alone === undefined',
    to: 'return this.#alone === undefined',
  },
  {
    name: 'a handler is not told that its lease is lost',
    file: 'attempt/job-runner.ts',
    from: "if (answer === 'lost' && this.#completion === undefined) this.abort('lease-lost')\n    else if",
    to: 'if',
  },
  {
    name: 'rate limits: tokens are not taken',
    file: 'dependency/rate-limit.ts',
    from: 'if (granted > 0) {',
    to: 'if (granted > 1_000) {',
  },
  {
    name: 'rate limits: a refused job starts',
    file: 'limits/token-limiter.ts',
    from: 'admission.admitted.push(...alike.slice(0, granted))\n      const refused = alike.slice(granted)',
    to: 'admission.admitted.push(...alike)\n      const refused: ClaimedJob[] = []',
  },
  {
    name: 'rate limits: a bucket that was empty counts as empty for longer',
    file: 'limits/token-limiter.ts',
    from: 'const emptyMs = nowMs + retryInMs +',
    to: 'const emptyMs = nowMs + 20 * retryInMs +',
  },
  {
    name: 'breakers: an open one lets claims through',
    file: 'dependency/breaker.ts',
    from: "settings.mode === 'half-open' && cooldownUntilMs <= nowMs ? 'half-open'",
    to: "settings.mode === 'half-open' ? 'half-open'",
  },
  {
    name: 'breakers: a half-open one lets everything through',
    file: 'memory/lifecycle/admit-job.ts',
    from: 'return runningProbes(facts, nowMs).some(({ jobId }) => jobId === job.id)',
    to: 'return true',
  },
  {
    name: 'breakers: one never closes',
    file: 'dependency/breaker.ts',
    from: 'if (successes < facts.settings.closeAfter) return',
    to: 'if (successes > 0) return',
  },
  {
    name: 'breakers: a job that met their failure loses an attempt',
    file: 'memory/lifecycle/outcomes.ts',
    from: "end === 'failure' && isFailedProbe(state, job)",
    to: "end === 'timeout' && isFailedProbe(state, job)",
  },
  {
    name: 'breakers: a call is reported after its failure is written',
    file: 'limits/job-gateway.ts',
    from: 'await this.#reported\n',
    to: '',
  },
  {
    name: 'breakers: nobody probes them',
    file: 'limits/breaker-watch.ts',
    from: 'if (inMs > 0) return inMs +',
    to: 'if (inMs > -1) return intervalMs +',
  },
  {
    name: 'a reaper that stands by never takes over',
    file: 'services/reaper.ts',
    from: 'if (this.#isStandingBy && !this.#isUrgent && timing.nowMs() < this.#knownUntilMs) return',
    to: 'if (this.#isStandingBy && !this.#isUrgent) return',
  },
  {
    name: 'no hold after a step of the clock',
    file: 'reaping/outages.ts',
    from: 'const isStepped = nowMs',
    to: 'const isStepped = nowMs < 0 && nowMs',
  },
  {
    name: 'a step of the clock is one of over five seconds, however short the lease is',
    file: 'reaping/outages.ts',
    from: 'return Math.min(MAX_CLOCK_DRIFT_MS, ',
    to: 'return Math.max(MAX_CLOCK_DRIFT_MS, 0 * ',
  },
  {
    name: 'an outage from before the clock was set back goes on',
    file: 'reaping/outages.ts',
    from: 'state.outages = pastOutages(state.outages, moment.nowMs)',
    to: '',
  },
  {
    name: 'schedules: an occurrence runs twice',
    file: 'memory/schedules.ts',
    from: "if (schedule.nextRunAt?.getTime() !== dueAt.getTime()) return { outcome: 'taken' }",
    to: '',
  },
  {
    name: 'schedules: every occurrence that was missed is made up for',
    file: 'services/scheduler.ts',
    from: 'now > dueAt ? now : dueAt',
    to: 'dueAt',
  },
  {
    name: 'schedules: one that is written again begins anew',
    file: 'memory/schedules.ts',
    from: 'nextRunAt: isSame ? known.nextRunAt : new Date(nextRunAt)',
    to: 'nextRunAt: new Date(nextRunAt)',
  },
  {
    name: 'schedules: a look that failed is repeated with the next poll',
    file: 'services/scheduler.ts',
    from: 'if (failures.size === 0) return dueInMs\n',
    to: 'if (failures.size < 1_000) return dueInMs\n',
  },
  ...workerMutants,
]

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
const queue = [...MUTANTS.entries()].filter(([index]) => only.size === 0 || only.has(index + 1))

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
const table = MUTANTS.flatMap((_, index) => rows.get(index) ?? [])
process.stdout.write(
  ['| | Mutant | Seed | Invariant |', '| ---: | --- | ---: | --- |', ...table, ''].join('\n'),
)
process.stderr.write(`${rows.size - missed} of ${rows.size} reported, ${cpu.toFixed(0)} CPU-seconds\n`)
process.exitCode = missed > 0 ? 1 : 0
