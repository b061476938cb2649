// Heartbeats.
import type { Mutant } from './mutants.ts'

const startWorker = 'src/unstuck/start/start-worker.ts'

export const workerMutants: Mutant[] = [
  {
    id: 'M12',
    fault: 'heartbeats come from the thread of the handlers',
    edits: [
      {
        file: startWorker,
        find: "import { startThreadHeartbeat } from '../runtime/heartbeat/thread-heartbeat.ts'",
        replacement: "import { startMainHeartbeat } from '../runtime/heartbeat/heartbeat.ts'",
      },
      {
        file: startWorker,
        find: 'function startHeartbeat(\n  { directUrl,',
        replacement: 'function startHeartbeat(\n  { open, directUrl,',
      },
      {
        file: startWorker,
        find: "return startThreadHeartbeat({\n    threadUrl: new URL('../compose/heartbeat-thread.js', import.meta.url),\n    workerData,",
        replacement:
          'return startMainHeartbeat({\n    store: open.store,\n    intervalMs: workerData.intervalMs,\n    policy: workerData.policy,',
      },
    ],
    suites: [{ files: ['test/surface/worker/worker.test.ts'], filter: 'LEASE-9' }],
  },
]
