// @ts-check
// All mutants of the simulator, in the order of their numbers.
import { claimsAndLeases } from './claims-and-leases.mjs'
import { limits } from './limits.mjs'
import { mendedDefects } from './mended-defects.mjs'
import { reaping } from './reaping.mjs'
import { schedules } from './schedules.mjs'
import { workers } from './workers.mjs'

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {readonly Mutant[]} */
export const mutants = [...mendedDefects, ...claimsAndLeases, ...limits, ...reaping, ...schedules, ...workers]
