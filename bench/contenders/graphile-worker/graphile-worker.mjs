import { createGraphileWorker } from './graphile.mjs'

export default createGraphileWorker(
  'graphile-worker',
  'concurrentJobs 24, maxPoolSize 25, no batching; row deleted',
  { concurrentJobs: 24, maxPoolSize: 25 },
  { isSlow: true },
)
