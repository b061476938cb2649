import type fc from 'fast-check'
import { assertSameState } from './snapshot.ts'
import type { Model, Pair, Side } from './two-sides.ts'

export type LeaseCommand = fc.AsyncCommand<Model, Side>

export interface CommandParts {
  name: string
  wish: unknown
  /** What must have happened before for the command to make sense. */
  needs?: 'jobIds' | 'leases'
  act: (pair: Pair) => Promise<void>
}

/** A step on both sides, after which everything that can be seen of them is the same. */
export function command({ name, wish, needs, act }: CommandParts): LeaseCommand {
  return {
    check: (model) => needs === undefined || model[needs].length > 0,
    async run(model, system) {
      const pair = { model, system }
      await act(pair)
      await assertSameState(pair)
    },
    toString: () => `${name}(${JSON.stringify(wish)})`,
  }
}
