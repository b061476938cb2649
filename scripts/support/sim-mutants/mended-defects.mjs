// @ts-check
// Defects of the past, put back.

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {Mutant[]} */
export const mendedDefects = [
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
]
