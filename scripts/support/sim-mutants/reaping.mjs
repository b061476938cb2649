// @ts-check
// Mutants of reapers that stand by, and of sweeps after a step of the clock.

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {Mutant[]} */
export const reaping = [
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
]
