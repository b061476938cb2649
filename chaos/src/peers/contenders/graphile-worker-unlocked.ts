// https://worker.graphile.org/docs/admin-functions: where "the process that runs Graphile Worker notices that it has exited",
// it may unlock the jobs of that worker. Here the supervisor that restarts the processes does so, and knows for certain.
import { createGraphile, unlockPools } from './create-graphile.ts'

export const contender = {
  ...createGraphile('graphile-worker + forceUnlockWorkers', { forceUnlockWorkers: 'after every exit' }),
  unlock: unlockPools,
}
