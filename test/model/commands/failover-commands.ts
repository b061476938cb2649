// A replica that catches up now and then, and is promoted without what was committed since. Workers keep the leases that they
// were given in the lost time, and go on with them.
import fc from 'fast-check'
import { command, type LeaseCommand } from './command.ts'

const replicate = fc.constant(null).map(() =>
  command({
    name: 'replicate',
    wish: null,
    act: async ({ model, system }) => {
      await Promise.all([model.replicate(), system.replicate()])
      model.story.push('the replica catches up')
    },
  }),
)

const failOver = fc.constant(null).map(() =>
  command({
    name: 'failOver',
    wish: null,
    isForgetful: true,
    act: async ({ model, system }) => {
      await Promise.all([model.failOver(), system.failOver()])
      model.story.push('the replica is promoted')
    },
  }),
)

/** With their weights. */
export const failoverCommands: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[] = [
  { arbitrary: replicate, weight: 2 },
  { arbitrary: failOver, weight: 1 },
]
