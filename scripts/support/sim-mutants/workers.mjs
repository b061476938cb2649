// @ts-check
// Mutants that break a promise of a worker: to its jobs, to other workers, and to whoever asks it to leave.

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {Mutant[]} */
export const workers = [
  {
    name: 'late departure: handlers get longer than the grace',
    file: 'worker/worker.ts',
    from: 'await wait(graceMs - lastPartMs, noMoreGrace.signal)',
    to: 'await wait(graceMs + 2_000, noMoreGrace.signal)',
  },
  {
    name: 'late departure: a worker that leaves claims on',
    file: 'claim/claimer.ts',
    from: 'while (!stopping.aborted) {',
    to: 'while (!this.#options.leaving.aborted) {',
  },
  {
    name: 'late departure: a worker waits for its grace although nothing runs',
    file: 'worker/worker.ts',
    from: '.then(() => noMoreGrace.abort())',
    to: '',
  },
  {
    name: 'early departure: handlers get no grace',
    file: 'worker/worker.ts',
    from: 'await wait(graceMs - lastPartMs, noMoreGrace.signal)',
    to: '',
  },
  {
    name: 'a worker that an operator drains stays',
    file: 'worker/worker-report.ts',
    from: '        onDrain()\n',
    to: '',
  },
  {
    name: 'early deadline: a second before',
    file: 'attempt/job-clocks.ts',
    from: "this.#owner.abort('deadline'), leftMs)",
    to: "this.#owner.abort('deadline'), leftMs - NEAR_MS)",
  },
  {
    name: 'late deadline: left to heartbeats and sweeps',
    file: 'attempt/job-clocks.ts',
    from: "this.#owner.abort('deadline'), leftMs)",
    to: '{}, leftMs)',
  },
  {
    name: 'a handler that ignores its signal keeps its slot',
    file: 'attempt/job-runner.ts',
    from: 'this.#clocks.startGrace(this.#deps.hangGraceMs, ',
    to: 'this.#clocks.startGrace(100 * this.#deps.hangGraceMs, ',
  },
  {
    name: 'claiming ahead: jobs without a slot are not given back',
    file: 'claim/waiting-jobs.ts',
    from: 'nowMs - this.claimedAtMs >= STALE_MS',
    to: 'nowMs - this.claimedAtMs >= 100 * STALE_MS',
  },
  {
    name: 'a freed slot wakes nobody',
    file: 'claim/claimer.ts',
    from: '&& isLow(this.#facts())) this.wake()',
    to: '&& isLow(this.#facts())) void 0',
  },
  {
    name: 'a cancelled job runs on',
    file: 'attempt/job-runner.ts',
    from: "this.abort('cancelled')",
    to: 'return',
  },
  {
    name: 'a job starts although its lease may have ended',
    file: 'claim/waiting-jobs.ts',
    from: '!this.isRefused && !mayHaveExpired(this.job, this.keptAtMs)',
    to: '!this.isRefused',
  },
  {
    name: 'a job is not told that its lease may have ended',
    file: 'attempt/job-clocks.ts',
    from: 'if (nowMs >= this.#suspectAtMs + LOOK_MS) this.putAtRisk()',
    to: '',
  },
  {
    name: 'heartbeats: after a failure a pause of two intervals',
    file: 'heartbeat/lease-thread.ts',
    from: 'timing.setTimeout(() => this.#beat(), this.#pauseMs)',
    to: 'this.#beating = pause(2 * this.#options.intervalMs).then(() => { this.#beating = undefined })',
  },
  {
    name: 'heartbeats: none at once for what a blocked event loop has claimed',
    file: 'heartbeat/lease-thread.ts',
    from: 'if (taken.length > 0 && this.#lag.isLate) this.#beatAgain()',
    to: '',
  },
  {
    name: 'heartbeats: the lease of a job that has ended is not let go',
    file: 'attempt/job-runner.ts',
    from: 'this.#deps.heartbeat.drop(this.job)\n',
    to: '',
  },
  {
    name: 'a worker claims before its heartbeats are ready',
    file: 'worker/worker.ts',
    from: 'Promise.all([firstSweep, heartbeat.ready])',
    to: 'firstSweep',
  },
  {
    name: 'a worker claims before its first sweep',
    file: 'worker/worker.ts',
    from: 'Promise.all([firstSweep, heartbeat.ready])',
    to: 'heartbeat.ready',
  },
  {
    name: 'presence: the jobs of a worker that is gone wait for the next sweep',
    file: 'services/reaper.ts',
    from: '      this.#isUrgent = true\n      this.#onDue()\n',
    to: '',
  },
  {
    name: 'a worker that leaves keeps what it has claimed ahead',
    file: 'claim/claimer.ts',
    from: 'const jobs = isLeaving ? this.#waiting.takeAll() : this.#waiting.takeStale()',
    to: 'const jobs = this.#waiting.takeStale()',
  },
  {
    name: 'a job that runs alone keeps the worker from claiming for good',
    file: 'worker/worker.ts',
    from: 'if (wasAlone) this.#alone = undefined',
    to: '',
  },
  {
    name: 'a reaper that stands by ignores that a sweep is due',
    file: 'services/reaper.ts',
    from: 'if (news.isSweepDue) {',
    to: 'if (false) {',
  },
]
