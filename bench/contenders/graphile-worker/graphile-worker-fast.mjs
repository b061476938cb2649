import { createGraphileWorker } from './graphile.mjs'

// Its performance page: "localQueue", and no delay before completions are written together. 2000 was its best size here.
export default createGraphileWorker(
  'graphile-worker, high throughput',
  'concurrentJobs 24, maxPoolSize 25, localQueue.size 2000, completeJobBatchDelay 0, failJobBatchDelay 0; row deleted',
  {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 2000 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
)
