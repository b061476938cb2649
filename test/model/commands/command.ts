import type fc from 'fast-check'
import { assertSameState } from '../snapshot.ts'
import type { Model, Pair, Side } from '../two-sides.ts'

export type LeaseCommand = fc.AsyncCommand<Model, Side>

export interface CommandParts {
  name: string
  wish: unknown
  /** Precondition of the command. */
  needs?: 'jobIds' | 'leases'
  /** Takes away what rows say of earlier steps. */
  isForgetful?: true
  act: (pair: Pair) => Promise<void>
}

/**
 * Answers are compared at every step, rows after so many: a look costs as much as a step, and what a step did to a row, its
 * counters and events go on to say.
 */
const STEPS_PER_LOOK = 4

/** A step on both sides, after which everything that can be seen of them is the same. */
export function command({ name, wish, needs, isForgetful, act }: CommandParts): LeaseCommand {
  return {
    check: (model) => needs === undefined || model[needs].length > 0,
    async run(model, system) {
      const pair = { model, system }
      if (isForgetful === true) await assertSameState(pair)
      await act(pair)
      if (++model.steps % STEPS_PER_LOOK === 0) await assertSameState(pair)
    },
    toString: () => `${name}(${JSON.stringify(wish)})`,
  }
}
