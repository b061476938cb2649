import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../job/lease.ts'
import type { ClaimCursors } from '../store/job-store.ts'
import { MarkedClaims } from './marked-claims.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const job = (createdAt: string, priority = 0, queue = 'mail') =>
  ({ queue, priority, createdAt: new Date(createdAt) }) as ClaimedJob

/** What was asked, in order; each call answers the next list. */
function claimOf(...answers: ClaimedJob[][]) {
  const asked: Record<string, Record<number, string>>[] = []
  const claim = async (marks: ClaimCursors) => {
    asked.push(
      Object.fromEntries(
        Array.from(marks, ([queue, times]) => [
          queue,
          Object.fromEntries(Array.from(times, ([priority, time]) => [priority, time.toISOString()])),
        ]),
      ),
    )
    return answers.shift() ?? []
  }
  return { asked, claim }
}

it('LEASE-1 a claim starts where the last one of its queue and priority got to', async () => {
  const { asked, claim } = claimOf(
    [job('2026-01-01T00:00:01Z'), job('2026-01-01T00:00:02Z'), job('2026-01-01T00:00:00Z', 5)],
    [job('2026-01-01T00:00:03Z')],
    [job('2026-01-01T00:00:01Z')],
    [],
  )
  const marked = new MarkedClaims()
  for (let round = 0; round < 4; round++) await marked.claim(claim)
  const other = { 5: '2026-01-01T00:00:00.000Z' }
  expect(asked).toEqual([
    {},
    { mail: { 0: '2026-01-01T00:00:02.000Z', ...other } },
    { mail: { 0: '2026-01-01T00:00:03.000Z', ...other } },
    // A retried job is older, and takes no mark back.
    { mail: { 0: '2026-01-01T00:00:03.000Z', ...other } },
  ])
})

it('LEASE-1 now and then everything is looked at: nothing is passed over for long', async () => {
  const found = [job('2026-01-01T00:00:01Z')]
  const { asked, claim } = claimOf(found, found, found, found)
  const marked = new MarkedClaims()
  for (let round = 0; round < 4; round++) {
    await marked.claim(claim)
    vi.advanceTimersByTime(600)
  }
  expect(asked.map((marks) => Object.keys(marks).length)).toEqual([0, 1, 0, 1])
})

it('LEASE-1 where nothing is found from the marks on, everything is looked at at once, four times a second at most', async () => {
  const { asked, claim } = claimOf([job('2026-01-01T00:00:01Z')], [], [], [job('2026-01-01T00:00:00Z')])
  const marked = new MarkedClaims()
  await marked.claim(claim)
  expect(await marked.claim(claim)).toEqual([])
  vi.advanceTimersByTime(300)
  expect(await marked.claim(claim)).toHaveLength(1)
  expect(asked.map((marks) => Object.keys(marks).length)).toEqual([0, 1, 1, 0])
})

it('LEASE-1 a claim that began before a look at everything leaves no mark for it', async () => {
  const { asked, claim } = claimOf([job('2026-01-01T00:00:01Z')], [], [job('2026-01-01T00:00:02Z')], [])
  const marked = new MarkedClaims()
  await marked.claim(claim)
  vi.advanceTimersByTime(900)
  let answer: (jobs: ClaimedJob[]) => void = () => {}
  const early = marked.claim(() => new Promise((resolve) => (answer = resolve)))
  vi.advanceTimersByTime(200)
  await marked.claim(claim)
  answer([job('2026-01-01T00:00:09Z')])
  await early
  await marked.claim(claim)
  await marked.claim(claim)
  expect(asked.at(-1)).toEqual({ mail: { 0: '2026-01-01T00:00:02.000Z' } })
})
