// Counts per minute of the invented deployment.
import type { Trend } from '../../../../src/http/contract/index.ts'
import { type FakeWorld, STAGES } from './fake-world.ts'
import { iso } from './iso.ts'

const MINUTE_MS = 60_000

export function trendsOf(world: FakeWorld, span: string | null): Trend[] {
  const spans = spansOf(world)
  if (span !== 'total') return spans
  return STAGES.flatMap(({ type }): Trend[] => {
    const own = spans.filter((trend) => trend.type === type)
    const [first] = own
    const sum = (name: 'enqueued' | 'completed' | 'failed' | 'rescued') =>
      own.reduce((total, trend) => total + trend[name], 0)
    if (first === undefined) return []
    const counts = { enqueued: sum('enqueued'), completed: sum('completed') }
    return [{ ...first, ...counts, failed: sum('failed'), rescued: sum('rescued') }]
  })
}

function spansOf(world: FakeWorld): Trend[] {
  if (world.jobs.size === 0) return []
  const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return STAGES.flatMap(({ type }, kind) =>
    Array.from({ length: 50 }, (_, ago): Trend => {
      const completed = 20 + ((ago * 7 + kind * 5) % 13)
      return {
        table: 'jobs',
        at: iso(minute - (ago + 1) * MINUTE_MS),
        queue: type,
        type,
        enqueued: completed + (ago % 3),
        completed,
        failed: ago % 9 === kind ? 2 : 0,
        rescued: ago === 12 ? 1 : 0,
        wait_p50_ms: 50,
        wait_p95_ms: 500,
        run_p50_ms: 1_000,
        run_p95_ms: 5_000,
        is_bounded: false,
      }
    }),
  )
}
