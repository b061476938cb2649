// Each mutant removes one rule from the engine. `npm run mutants` proves that a test notices each of them.
import { groupMutants } from './groups.ts'
import { jobMutants } from './jobs.ts'
import { leaseMutants } from './leases.ts'
import { presenceMutants } from './presence.ts'
import { queueControlMutants } from './queue-controls.ts'
import { reapMutants } from './reaps.ts'
import { verbMutants } from './verbs.ts'
import { workerMutants } from './workers.ts'

/** Replaces a text that must occur exactly once in the file. */
export interface Edit {
  file: string
  find: string
  replacement: string
}

export interface Suite {
  files: string[]
  /** Selects tests by name. */
  filter?: string
  /** Suites that need another program have their own setup. */
  config?: string | undefined
}

export interface Mutant {
  id: string
  fault: string
  edits: Edit[]
  suites: Suite[]
  /** Options of a chaos run that must notice it too. */
  chaos?: string[]
}

const numberOf = ({ id }: Mutant) => Number(id.slice(1))

export const mutants: Mutant[] = [
  ...leaseMutants,
  ...reapMutants,
  ...jobMutants,
  ...workerMutants,
  ...verbMutants,
  ...queueControlMutants,
  ...presenceMutants,
  ...groupMutants,
].toSorted((a, b) => numberOf(a) - numberOf(b))

/** One of a lease, one of a sweep, one of an operator's verb. */
export const quickMutants = ['M1', 'M5', 'M20']
