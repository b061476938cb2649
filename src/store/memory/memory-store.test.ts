import { describeJobStore } from '../conformance/index.ts'
import { createMemoryStore } from './memory-store.ts'

describeJobStore('memory', async () => {
  const store = createMemoryStore()
  return {
    store,
    elapse: async (ms) => store.elapse(ms),
    plantJob: async (fields) => store.plantJob(fields),
    hasTransactions: false,
    close: async () => undefined,
  }
})
