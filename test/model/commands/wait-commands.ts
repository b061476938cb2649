// Processes that wait for the end of jobs: waits change nothing, and both sides say the same of every end.
import fc from 'fast-check'
import { agree, nameOfJob } from '../two-sides.ts'
import { command, type LeaseCommand } from './command.ts'
import { jobIdsAt, manyPicks, pickIndexes, picks } from './picks.ts'

const wait = fc.tuple(picks, fc.nat({ max: 2 })).map(([numbers, channel]) =>
  command({
    name: 'wait',
    wish: { picks: numbers, channel },
    needs: 'jobIds',
    act: async ({ model, system }) => {
      const indexes = pickIndexes(numbers, model.jobIds.length)
      // Only PostgreSQL has notifications.
      await system.store.beginWaits?.([...new Set(jobIdsAt(system, indexes))], channel, 3_600_000)
      model.story.push(`process ${channel} waits for jobs ${indexes.join()}`)
    },
  }),
)

const endWait = fc.tuple(picks, fc.nat({ max: 2 })).map(([numbers, channel]) =>
  command({
    name: 'endWait',
    wish: { picks: numbers, channel },
    needs: 'jobIds',
    act: async ({ model, system }) => {
      const indexes = pickIndexes(numbers, model.jobIds.length)
      await system.store.endWaits?.(jobIdsAt(system, indexes), channel)
      model.story.push(`process ${channel} no longer waits for jobs ${indexes.join()}`)
    },
  }),
)

const readEnds = manyPicks.map((numbers) =>
  command({
    name: 'readEnds',
    wish: numbers,
    needs: 'jobIds',
    act: async (pair) => {
      const indexes = [...new Set(pickIndexes(numbers, pair.model.jobIds.length))].toSorted((a, b) => a - b)
      await agree(pair, `ends of jobs ${indexes.join()}`, async (side) => {
        const ends = await side.store.readEnds(jobIdsAt(side, indexes))
        return ends
          .toSorted((a, b) => side.jobIds.indexOf(a.jobId) - side.jobIds.indexOf(b.jobId))
          .map(({ jobId, ...end }) => ({ job: nameOfJob(side, jobId), ...end }))
      })
    },
  }),
)

/** With their weights. */
export const waitCommands: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[] = [
  { arbitrary: wait, weight: 1 },
  { arbitrary: endWait, weight: 1 },
  { arbitrary: readEnds, weight: 2 },
]
