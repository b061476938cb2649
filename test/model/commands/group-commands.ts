// Jobs with groups, limits of queues, and claims of all that limits let start: which of several groups comes first is nobody's promise.
import fc from 'fast-check'
import type { PolicyOverride } from '../../../src/policy/policy.ts'
import type { QueueLimits } from '../../../src/store/ports/dependency-store.ts'
import { agree, type Pair } from '../two-sides.ts'
import { command } from './command.ts'
import { timeAndPeople } from './operator-commands.ts'
import { additionOf, claimAllThatFit, leaseCommands, newJobs, queues } from './worker-commands.ts'

/** So many that no job gets a last chance: it takes a worker alone, and which queue it is found in first is up to chance. */
export const ampleBudget: PolicyOverride = { maxAttempts: 100, maxCrashes: 100, maxTimeouts: 100 }

const group = fc.constantFrom(undefined, 'a', 'b', 'c')

export const addGrouped = fc
  .tuple(newJobs, fc.array(group, { minLength: 3, maxLength: 3 }))
  .map(([jobs, groups]) =>
    additionOf(
      jobs.map((job, nth) => {
        const name = groups[nth]
        return { ...job, maxAttempts: 100, ...(name === undefined ? {} : { group: name }) }
      }),
    ),
  )

const limits = fc.constantFrom<QueueLimits | null>(
  null,
  { groupConcurrency: 1 },
  { groupConcurrency: 2 },
  { groupOrder: 'fifo' },
)

const limit = fc.tuple(fc.constantFrom(...queues), limits).map(([queue, wish]) =>
  command({
    name: 'limit',
    wish: { queue, ...wish },
    act: async (pair) => {
      await limitTo(pair, queue, wish)
    },
  }),
)

async function limitTo(pair: Pair, queue: string, wish: QueueLimits | null): Promise<void> {
  await agree(pair, `limit of ${queue}: ${JSON.stringify(wish)}`, (side) =>
    side.store.limitQueue(queue, wish),
  )
}

export async function liftLimits(pair: Pair): Promise<void> {
  for (const queue of queues) await limitTo(pair, queue, null)
}

const claim = fc.constantFrom('w1', 'w2', 'w3').map((workerId) =>
  command({
    name: 'claim all that fit',
    wish: workerId,
    act: async (pair) => {
      await claimAllThatFit(pair, workerId)
    },
  }),
)

/** With their weights. */
export const groupCommands = [
  { arbitrary: addGrouped, weight: 8 },
  { arbitrary: limit, weight: 4 },
  { arbitrary: claim, weight: 10 },
  ...leaseCommands,
  ...timeAndPeople,
]
