// The report of given numbers; no process is started.
import { describe, expect, it } from 'vitest'
import { type Profile, profileHits, profileText } from '../../../bench/measures/neo4j/profile-text.ts'
import { drawChart } from '../../../bench/report/chart.ts'
import { judgeGoals } from '../../../bench/report/goals.ts'
import { mergeSections } from '../../../bench/report/merge-sections.ts'
import { type Report, toMarkdown } from '../../../bench/report/report.ts'
import type { MeasureResult, Row } from '../../../bench/report/result.ts'
import { percentile, spreadOf } from '../../../bench/report/statistics.ts'

function row(id: string, values: Record<string, number[]>, problem: string | null = null): Row {
  const spreads = Object.entries(values).map(([key, runs]) => [key, spreadOf(runs)] as const)
  return { id, name: id, settings: 'defaults', values: Object.fromEntries(spreads), othersCpu: null, problem }
}

function measure(id: string, rows: Row[]): MeasureResult {
  const columns = [{ key: 'jobsPerS', title: 'jobs/s' }]
  return { id, title: 'A & B', method: 'Some.', columns, rows, chart: { kind: 'bars', column: 'jobsPerS' } }
}

const raced = measure('process', [
  row('unstuck', { jobsPerS: [29_000, 30_000, 90_000] }),
  row('pg-boss', { jobsPerS: [10_000, 10_000, 10_000] }),
  row('raw', { jobsPerS: [60_000, 60_000, 60_000] }),
  row('bullmq-redis', {}, 'redis-server is not installed'),
])

const report: Report = {
  startedAt: '2026-11-15T10:00:00Z',
  tookS: 60,
  size: 'small',
  repetitions: 3,
  machine: { cpu: 'a processor', cores: 2, memoryGb: 8, system: 'linux' },
  versions: { Node: '22.0.0' },
  serverSettings: 'fsync on',
  missing: { redis: 'redis-server is not installed' },
  othersCpu: 0.25,
  measures: [raced],
  goals: judgeGoals([raced]),
}

describe('statistics', () => {
  it('the median of an even number of runs lies between the two in the middle', () => {
    expect(spreadOf([4, 1, 3, 2])).toMatchObject({ median: 2.5, min: 1, max: 4, runs: [4, 1, 3, 2] })
    expect(percentile([10, 20, 30], 1)).toBe(30)
  })
})

describe('judgeGoals', () => {
  const goal = (work: string) => judgeGoals([raced]).find((each) => each.work === work)

  it('compares medians, so that one lucky run reaches nothing', () => {
    expect(goal('process / pg-boss')).toMatchObject({ value: 3, wanted: 1.5, isReached: true })
    expect(goal('process / raw SQL')).toMatchObject({ value: 0.5, wanted: 0.7, isReached: false })
  })

  it('does not judge what was not measured', () => {
    expect(goal('process / BullMQ on Redis')).toMatchObject({ value: null, isReached: null })
    expect(goal('latency p50 / best PostgreSQL peer')).toMatchObject({ value: null, isReached: null })
  })

  it('takes the best of the peers', () => {
    const latencies = { unstuck: 2, 'graphile-worker': 4, 'pg-boss-notify': 8, 'bullmq-redis': 1 }
    const rows = Object.entries(latencies).map(([id, ms]) => row(id, { p50Ms: [ms] }))
    const goals = judgeGoals([measure('latency', rows)])
    // Redis is not a PostgreSQL peer.
    expect(goals.find(({ work }) => work.startsWith('latency p50'))).toMatchObject({
      value: 0.5,
      isReached: true,
    })
  })
})

describe('judgeGoals of claims', () => {
  it('WORK-10 judges the row with the most claims per job', () => {
    const rows = [row('backlog-0', { claimsPerJob: [1] }), row('load', { claimsPerJob: [1, 1.03, 2] })]
    const goals = judgeGoals([measure('claims', rows)])
    expect(goals.find(({ work }) => work.startsWith('claims per job'))).toMatchObject({
      value: 1.03,
      wanted: 1.02,
      isReached: false,
    })
  })

  it('WORK-10 judges updates only where no heartbeat adds to them', () => {
    const rows = [
      row('crew-50', { updatesPerJob: [2.01] }),
      row('backlog-1000', { updatesPerJob: [2.04] }),
      row('backlog-5000', { updatesPerJob: [2.5] }),
    ]
    const goals = judgeGoals([measure('claims', rows)])
    expect(goals.find(({ work }) => work.startsWith('updates per job'))).toMatchObject({
      value: 2.04,
      isReached: true,
    })
  })

  it.each(['connections', 'workers'])('compares the CPU time of the server with eight %s to one', (kind) => {
    const rows = [row(`${kind}-1`, { serverUsPerJob: [20] }), row(`${kind}-8`, { serverUsPerJob: [28] })]
    const goals = judgeGoals([measure('claimers', rows)])
    expect(goals.find(({ value, work }) => value !== null && work.startsWith('server CPU'))).toMatchObject({
      value: 1.4,
      wanted: 1.3,
      stretch: 1.1,
      isReached: false,
    })
  })
})

describe('judgeGoals of handlers that wait', () => {
  it.each(['handlers-50', 'handlers-types'])('no peer may need less CPU time in %s', (id) => {
    const cheap = [row('unstuck', { cpuUsPerJob: [100] }), row('pg-boss', { cpuUsPerJob: [110] })]
    const goalOf = (rows: Row[]) =>
      judgeGoals([measure(id, rows)]).find(({ value, work }) => value !== null && work.startsWith('CPU'))
    expect(goalOf(cheap)).toMatchObject({ wanted: 1, isReached: true })
    expect(goalOf([...cheap, row('river', { cpuUsPerJob: [80] })])).toMatchObject({
      value: 1.25,
      isReached: false,
    })
  })
})

describe('toMarkdown', () => {
  const markdown = toMarkdown(report, () => null)

  it('shows the median with the smallest and the largest', () => {
    expect(markdown).toContain('| unstuck | 30,000 (29,000–90,000) |')
  })

  it('marks a stretch that was met, beside the goal that is judged', () => {
    expect(markdown).toContain('| process / pg-boss | ≥ 1.5 | 3.00 | reached | ≥ 2 ✓ |')
    expect(markdown).toContain('| process / BullMQ on PostgreSQL | ≥ 20 | – | not measured |  |')
  })

  it('lists a contender once for each of its settings', () => {
    const other = measure('handlers-50', [
      { ...row('unstuck', { jobsPerS: [1] }), settings: 'handlers that wait: concurrency 100' },
    ])
    const settings = toMarkdown({ ...report, measures: [raced, raced, other] }, () => null).split(
      '### Settings',
    )[1]
    expect(settings?.match(/\| unstuck \|/g)).toHaveLength(2)
  })

  it('says by how much a goal was missed, and what was left out and why', () => {
    expect(markdown).toContain('| process / raw SQL | ≥ 0.7 | 0.50 | missed by 29 % | ≥ 0.8 |')
    expect(markdown).toContain('Left out: bullmq-redis: redis-server is not installed')
    expect(markdown).not.toContain('NaN')
  })
})

describe('mergeSections', () => {
  const published = 'facts of then\n\n### Goals\n\n1 of 2\n\n### Latency\n\n3 ms\n\n### Settings\n\ndefaults'
  const measured = 'facts of now\n\n### Goals\n\n2 of 2\n\n### Fleet\n\n4 workers\n\n### Latency\n\nLeft out'

  it('a run of some measures replaces these, adds what is new, and keeps the rest as it was published', () => {
    expect(mergeSections(published, measured, new Set(['Fleet']))).toBe(
      published.replace('### Settings', '### Fleet\n\n4 workers\n\n### Settings'),
    )
  })

  it('a run of all measures keeps what was published of one that has no result, and says so once', () => {
    const fresh = new Set(['', 'Goals', 'Fleet', 'Settings'])
    const merged = measured.replace('Left out', '3 ms\n\nFrom an earlier run: this one has no result of it.')
    expect(mergeSections(published, measured, fresh)).toBe(merged)
    expect(mergeSections(merged, measured, fresh)).toBe(merged)
  })

  it('a measure that was never published shows why it was left out', () => {
    expect(mergeSections('', measured, new Set(['', 'Goals', 'Fleet', 'Settings']))).toBe(measured)
  })
})

describe('profileText', () => {
  const operator = (operatorType: string, dbHits: number, children: Profile[] = []): Profile => {
    return { operatorType, dbHits, rows: 1, arguments: { Details: `about ${operatorType}` }, children }
  }
  const profile = operator('Apply@neo4j', 0, [operator('Unwind@neo4j', 1), operator('NodeIndexSeek', 11)])

  it('adds up the hits of all operators', () => {
    expect(profileHits(profile)).toBe(12)
  })

  it('shows what is done for each row deeper than what goes on', () => {
    const names = profileText(profile)
      .split('\n')
      .map((line) => line.slice(0, 15).trimEnd())
    expect(names).toEqual(['operator', 'Apply', '  NodeIndexSeek', 'Unwind'])
  })

  it('stands behind the table of its measure', () => {
    const noted = toMarkdown({ ...report, measures: [{ ...raced, notes: ['the plan'] }] }, () => null)
    expect(noted.indexOf('the plan')).toBeGreaterThan(noted.indexOf('| unstuck |'))
  })
})

describe('drawChart', () => {
  it('draws a bar for each row that was measured, and escapes words', () => {
    const svg = drawChart(raced) ?? ''
    expect(svg.match(/<rect x=/g)).toHaveLength(3)
    expect(svg).toContain('A &amp; B')
    expect(svg).not.toContain('NaN')
  })

  it('draws nothing where nothing was measured', () => {
    expect(drawChart(measure('process', [row('raw', {}, 'left out')]))).toBeNull()
  })
})
