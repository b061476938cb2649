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
        find: 'if (directUrl === null) {',
        replacement: "if (directUrl === null || workerId !== '') {",
      },
    ],
    suites: [{ files: ['test/surface/worker/worker.test.ts'], filter: 'LEASE-9' }],
  },
]
