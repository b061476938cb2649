// @ts-check
// Mutants that break a rule of claims, leases, attempts or hints, in the store or in a worker.

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {Mutant[]} */
export const claimsAndLeases = [
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
]
