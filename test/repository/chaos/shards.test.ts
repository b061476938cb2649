// A chaos run over several shards: its schedule, and the judge on made-up histories.
import { describe, expect, it } from 'vitest'
import type { Disturbance } from '../../../chaos/src/faults/disturbances.ts'
import { Disturbances } from '../../../chaos/src/faults/disturbances.ts'
import { EXCLUSIVE } from '../../../chaos/src/faults/schedule.ts'
import { makeShardFaults } from '../../../chaos/src/faults/shard-schedule.ts'
import type { History } from '../../../chaos/src/judge/history.ts'
import { judgeShards } from '../../../chaos/src/judge/judge-shards.ts'
import { checkOthersGoOn, partOf } from '../../../chaos/src/judge/shards.ts'
import { cleanHistory, T0 } from './clean-history.ts'

const idOf = (shard: number) => `018bcfe5-6800-71f7-8${shard.toString(16).padStart(3, '0')}-ebae96331207`

const outage = (from: number, to: number, shard: number): Disturbance => ({
  who: '*',
  kind: 'database-stopped',
  from: T0 + from,
  to: T0 + to,
  shard,
})

const countOf = (type: string) => cleanHistory().events.filter((event) => event.type === type).length

/** Jobs are enqueued, claimed and completed from T0 on. */
const downFor = (tookMs: number): [History, History] => [
  { ...cleanHistory(), disturbances: [...cleanHistory().disturbances, outage(0, tookMs, 0)] },
  cleanHistory(),
]

describe('the faults of several shards', () => {
  const faults = makeShardFaults({ seed: 31, durationMs: 180_000, shards: 2 })
  const outages = faults.filter(({ kind }) => kind === 'database-stopped')

  it('OPS-15 kill the servers in turn, each for longer than two leases, with time to recover between them', () => {
    expect(outages.length).toBeGreaterThan(5)
    expect(outages.map(({ shard }) => shard)).toEqual(outages.map((_, place) => place % 2))
    for (const [place, { atMs, durationMs }] of outages.entries()) {
      expect(durationMs).toBeGreaterThan(4_000)
      expect((outages[place + 1]?.atMs ?? 180_000) - atMs - durationMs).toBeGreaterThanOrEqual(0)
    }
  })

  it('OPS-15 hit each shard, and stop no other server while one is down', () => {
    expect(new Set(faults.map(({ shard }) => shard))).toEqual(new Set([0, 1]))
    const others = faults.filter(({ kind }) => EXCLUSIVE.has(kind) && kind !== 'database-stopped')
    expect(others.length).toBeGreaterThan(0)
    for (const { atMs, durationMs } of others)
      expect(
        outages.some((each) => atMs < each.atMs + each.durationMs && each.atMs < atMs + durationMs),
      ).toBe(false)
    expect(makeShardFaults({ seed: 31, durationMs: 180_000, shards: 2 })).toEqual(faults)
  })
})

describe('the judge of several shards', () => {
  it('OPS-15 excuses a reap by a fault of its own shard only, and by a fault of the process everywhere', () => {
    const disturbances = new Disturbances()
    disturbances.ofShard(1).begin('w1', 'blackhole')()
    disturbances.ofShard(1).begin('w1', 'pause')()
    const recorded = { ...cleanHistory(), disturbances: disturbances.list }
    const kindsOf = (shard: number) => partOf(recorded, shard).disturbances.map(({ kind }) => kind)
    expect({ own: kindsOf(1), other: kindsOf(0) }).toEqual({ own: ['blackhole', 'pause'], other: ['pause'] })
  })

  it('OPS-15 parts ledgers, acknowledged jobs, webhooks and stalls by shard', () => {
    const line = { at: T0, worker: 'w1', pid: 1 }
    const recorded: History & { webhooks: { webhookId: string; events: string[]; shard: number }[] } = {
      ...cleanHistory(),
      enqueuedIds: [idOf(0), idOf(1)],
      ledger: [
        { ...line, kind: 'started', job: idOf(0) },
        { ...line, kind: 'started', job: idOf(1) },
        { ...line, kind: 'left' },
      ],
      webhooks: [
        { webhookId: 'a', events: [], shard: 0 },
        { webhookId: 'b', events: [], shard: 1 },
      ],
      stalls: ['database', 'database 1', 'w1'].map((who) => ({
        from: T0,
        to: T0,
        by: 'processor' as const,
        who,
      })),
    }
    const part = partOf(recorded, 1)
    expect({
      ids: part.enqueuedIds,
      ledger: part.ledger.map(({ kind, job }) => [kind, job]),
      webhooks: part.webhooks.map(({ webhookId }) => webhookId),
      stalls: part.stalls.map(({ who }) => who),
    }).toEqual({
      ids: [idOf(1)],
      ledger: [
        ['started', idOf(1)],
        ['left', undefined],
      ],
      webhooks: ['b'],
      stalls: ['database', 'w1'],
    })
  })

  it('OPS-15 finds nothing if the other shard enqueued, claimed and completed during an outage', () => {
    expect(checkOthersGoOn(downFor(4_500))).toEqual({
      outages: 1,
      least: {
        queued: countOf('queued'),
        processing: countOf('processing'),
        complete: countOf('complete'),
      },
      violations: [],
    })
  })

  it.each(['queued', 'processing', 'complete'])('OPS-15 notices a shard that has no %s meanwhile', (type) => {
    const [down, other] = downFor(4_500)
    other.events = other.events.filter((event) => event.type !== type)
    const { violations } = checkOthersGoOn([down, other])
    expect(violations.map(({ invariant }) => invariant)).toEqual(['shards'])
    expect(violations[0]?.message).toContain(type)
  })

  it('OPS-15 does not judge an outage that is shorter than two leases', () => {
    const [down, other] = downFor(3_900)
    expect(checkOthersGoOn([down, { ...other, events: [] }])).toMatchObject({ outages: 0, violations: [] })
  })

  it('OPS-15 judges every shard by its own events and counts them together', () => {
    const [first, second] = [cleanHistory(), cleanHistory()]
    second.enqueuedIds.push(idOf(1))
    const { violations, summary } = judgeShards([first, second], cleanHistory())
    expect(violations.map(({ invariant }) => invariant)).toEqual(['I7'])
    expect(summary).toMatchObject({
      claims: 2 * countOf('processing'),
      violations: 1,
      shardOutages: { count: 0 },
    })
  })
})
