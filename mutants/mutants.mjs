// @ts-check
// The engine with one rule taken out each. All of them must be noticed: `npm run mutants`.
import { brakeMutants } from './brakes.mjs'
import { jobMutants } from './jobs.mjs'
import { leaseMutants } from './leases.mjs'
import { reapMutants } from './reaps.mjs'
import { verbMutants } from './verbs.mjs'
import { workerMutants } from './workers.mjs'

/**
 * A text that occurs once, and what stands there instead.
 * @typedef {{ file: string, find: string, replacement: string }} Edit
 * @typedef {{ files: string[], filter?: string }} Suite `filter` is for the names of tests.
 * @typedef {{ id: string, fault: string, edits: Edit[], suites: Suite[], chaos?: string[] }} Mutant `chaos` are the options of a
 *   run that should notice too.
 */

/** @param {Mutant} mutant */
const numberOf = ({ id }) => Number(id.slice(1))

/** @type {Mutant[]} */
export const mutants = [
  ...leaseMutants,
  ...reapMutants,
  ...jobMutants,
  ...workerMutants,
  ...verbMutants,
  ...brakeMutants,
].toSorted((a, b) => numberOf(a) - numberOf(b))

/** One of each place: a lease, a sweep, a verb of people. */
export const quickMutants = ['M1', 'M5', 'M20']
