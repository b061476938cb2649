// Commands of workers beside their jobs: reports, requests to drain, and a look at the policy in force.
import fc from 'fast-check'
import type { WorkerReport } from '../../../src/store/ports/worker-store.ts'
import { HOUR } from '../timing.ts'
import { agree } from '../two-sides.ts'
import { command, type LeaseCommand } from './command.ts'
import { present, rarely } from './optional-fields.ts'

/** Sweeps are redundant within nine tenths of it and due after eleven: whole hours too. */
export const SWEEP_INTERVAL_MS = 10 * HOUR

const workerId = fc.constantFrom('w1', 'w2', 'w3')

const workerReport = present({
  workerId,
  isStart: rarely(fc.constant(true)),
  phase: fc.constantFrom<WorkerReport['phase']>('running', 'running', 'draining', 'stopped'),
  sweepIntervalMs: fc.option(fc.constant(SWEEP_INTERVAL_MS), { nil: undefined }),
})

const report = workerReport.map((wish) =>
  command({
    name: 'report',
    wish,
    act: async (pair) => {
      await agree(pair, `report ${JSON.stringify(wish)}`, async ({ store }) => {
        const sent = { ...wish, types: [], concurrency: 2, running: 0, reportMs: HOUR }
        const { isDrainRequested, isSweepDue, hintedWorkers, hasWebhooks } = await store.reportWorker(sent)
        return { isDrainRequested, isSweepDue, hintedWorkers, hasWebhooks }
      })
    },
  }),
)

const drain = workerId.map((wish) =>
  command({
    name: 'drain',
    wish,
    act: async (pair) => {
      await agree(pair, `drain ${wish}`, ({ store }) => store.drainWorker(wish))
    },
  }),
)

const readPolicy = fc.constant(null).map(() =>
  command({
    name: 'readPolicy',
    wish: null,
    act: async (pair) => {
      await agree(pair, 'the policy', ({ store }) => store.readPolicy())
    },
  }),
)

/** With their weights. */
export const reportCommands: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[] = [
  { arbitrary: report, weight: 2 },
  { arbitrary: drain, weight: 1 },
  { arbitrary: readPolicy, weight: 1 },
]
