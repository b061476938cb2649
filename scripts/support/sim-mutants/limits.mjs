// @ts-check
// Mutants of rate limits and breakers.

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {Mutant[]} */
export const limits = [
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
]
