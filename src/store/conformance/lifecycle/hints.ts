import { describe, expect, it } from 'vitest'
import type { WorkerReport } from '../../job-store.ts'
import { claimOne, enqueueOne, HOUR, MINUTE, SECOND, TYPE } from '../builders.ts'
import type { TestBench } from '../harness.ts'

/** Questions of a worker before it acts on a hint. */
export function describeHints(opened: () => TestBench): void {
  describeDueJobs(opened)
  describeHintedWorkers(opened)
}

function describeDueJobs(opened: () => TestBench): void {
  describe('hasDueJobs', () => {
    it('WORK-1 a waiting job of one of the queues is found until it is claimed', async () => {
      const { store } = opened()
      expect(await store.hasDueJobs([TYPE])).toBe(false)
      await enqueueOne(store, { queue: 'slow' })
      expect(await store.hasDueJobs([TYPE])).toBe(false)
      await enqueueOne(store)
      expect(await store.hasDueJobs(['other', TYPE])).toBe(true)
      await claimOne(store)
      expect(await store.hasDueJobs(['other', TYPE])).toBe(false)
    })

    it('WORK-1 a job that is due later is found when it is due, in any priority', async () => {
      const { store, elapse } = opened()
      await enqueueOne(store, { delayMs: MINUTE, priority: -3 })
      await enqueueOne(store, { delayMs: HOUR, priority: 5 })
      expect(await store.hasDueJobs([TYPE])).toBe(false)
      await elapse(MINUTE)
      expect(await store.hasDueJobs([TYPE])).toBe(true)
    })

    it('WORK-1 a paused queue has none', async () => {
      const { store } = opened()
      await enqueueOne(store)
      await store.pauseQueue(TYPE)
      expect(await store.hasDueJobs([TYPE])).toBe(false)
      await store.resumeQueue(TYPE)
      expect(await store.hasDueJobs([TYPE])).toBe(true)
    })
  })
}

const worker = (workerId: string, fields: Partial<WorkerReport> = {}): WorkerReport => ({
  workerId,
  phase: 'running',
  types: [TYPE],
  concurrency: 2,
  running: 0,
  hintedQueues: [TYPE],
  reportMs: 15 * SECOND,
  ...fields,
})

function describeHintedWorkers(opened: () => TestBench): void {
  describe('workers that hints reach', () => {
    /** By queue, in the order of their names. */
    const hintedBy = async (report: WorkerReport) => {
      const { store } = opened()
      await store.reportWorker(report)
      // A report may answer with what was known before it.
      const { hintedWorkers } = await store.reportWorker(report)
      return Object.fromEntries(
        hintedWorkers.map(({ queues, workerIds }) => [queues.join(), workerIds.toSorted()]),
      )
    }

    it('WORK-1 a report answers with those that have a free slot, by their queues', async () => {
      const { store } = opened()
      await store.reportWorker(worker('busy', { running: 2 }))
      await store.reportWorker(worker('mail', { hintedQueues: ['mail', 'sms'] }))
      const { hintedQueues: _none, ...deaf } = worker('deaf')
      await store.reportWorker(deaf)
      await store.reportWorker(worker('one', { running: 1 }))
      expect(await hintedBy(worker('two'))).toEqual({ [TYPE]: ['one', 'two'], 'mail,sms': ['mail'] })
    })

    it('WORK-1 one that drains, has stopped or is late is none of them', async () => {
      const { store, elapse } = opened()
      await store.reportWorker(worker('late'))
      await elapse(MINUTE)
      await store.reportWorker(worker('draining', { phase: 'draining' }))
      await store.reportWorker(worker('stopped', { phase: 'stopped' }))
      expect(await hintedBy(worker('one'))).toEqual({ [TYPE]: ['one'] })
    })
  })
}
