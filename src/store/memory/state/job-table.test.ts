import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import { compareClaimOrder, dueMs, JobTable } from './job-table.ts'

const row = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  status: fc.constantFrom('waiting', 'waiting', 'running', 'succeeded'),
  priority: fc.integer({ min: -1, max: 1 }),
  createdAt: fc.integer({ min: 0, max: 4 }).map((ms) => new Date(ms)),
  runAt: fc.option(fc.integer({ min: 0, max: 4 }).map((ms) => new Date(ms))),
}) as fc.Arbitrary<unknown> as fc.Arbitrary<Job>
const step = fc.oneof({ arbitrary: row, weight: 5 }, { arbitrary: fc.constantFrom('a', 'b', 'c'), weight: 1 })

it('WORK-1 lists due jobs as a search among all rows would, whatever was written', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: -1, max: 5 }), (steps, nowMs) => {
      const table = new JobTable()
      for (const written of steps)
        if (typeof written === 'string') table.delete(written)
        else table.set(written.id, written)
      const searched = [...table.values()].filter((job) => job.status === 'waiting' && dueMs(job) <= nowMs)
      expect([...table.due(nowMs)]).toEqual(searched.toSorted(compareClaimOrder))
      table.clear()
      expect([...table.due(nowMs)]).toEqual([])
    }),
  )
})
