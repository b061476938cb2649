// Nodes as teams write them themselves.
import neo4j, { type Driver } from 'neo4j-driver'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { extendProfile, type TableDifferences } from '../../../src/profile/extend-profile.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { installNeo4j, readNeo4jStatus, removeNeo4j } from '../../../src/store/neo4j/install.ts'
import { createNeo4jStore } from '../../../src/store/neo4j/neo4j-store.ts'
import { openDriver } from '../../../src/store/neo4j/open-neo4j-store.ts'
import type { NodeNotice } from '../../../src/store/neo4j/state/node-notice.ts'
import { clear, createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'TeamNodeJob'
const claim = { workerId: 'worker-a', queues: ['embed'], limit: 10 }

describe('nodes that a team writes', () => {
  let bench: Neo4jBench
  let store: JobStore
  let notices: NodeNotice[]
  beforeAll(async () => {
    bench = await createNeo4jBench(label)
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    await bench.open()
    notices = []
    store = createNeo4jStore({ driver: bench.driver, label, onNotice: (notice) => notices.push(notice) })
  })

  const reasons = () => notices.map(({ reason }) => reason)
  const idsOf = (jobs: { jobId: string }[]) => jobs.map(({ jobId }) => jobId).toSorted()

  it('OPS-13 a node whose payload is no JSON is set aside alone, and its id is logged', async () => {
    await bench.driver.executeQuery(
      `CREATE (:${label} {id: 'good-1', status: 'pending', payload: '{"document": 1}'}),
              (:${label} {id: 'bad-1', status: 'pending', payload: 'a.pdf, b.pdf'}),
              (:${label} {id: 'good-2', status: 'pending'})`,
    )
    await store.sweepJobs()
    expect(idsOf(await store.claimJobs(claim))).toEqual(['good-1', 'good-2'])
    expect(notices).toEqual([
      { table: label, jobId: 'bad-1', reason: expect.stringMatching(/payload is no JSON.*jobs retry bad-1/) },
    ])
    const set = await store.getJob('bad-1')
    expect(set).toMatchObject({ status: 'dead', error: { code: 'unreadable', category: 'PERMANENT' } })
    expect(await store.claimJobs(claim)).toEqual([])
    expect(notices).toHaveLength(1)
  })

  it('OPS-13 a repaired node that was set aside is retried as any dead letter', async () => {
    await bench.driver.executeQuery(`CREATE (:${label} {id: 'bad-1', status: 'pending', payload: 'a.pdf'})`)
    await store.sweepJobs()
    await store.claimJobs(claim)
    await bench.driver.executeQuery(`MATCH (j:${label} {id: 'bad-1'}) SET j.payload = '"a.pdf"'`)
    await store.retryJobs(['bad-1'])
    expect(await store.claimJobs(claim)).toMatchObject([{ jobId: 'bad-1', payload: 'a.pdf' }])
  })

  it('OPS-13 a sweep takes back a node whose payload is no JSON, leaves the text as it is and goes on', async () => {
    await bench.driver.executeQuery(
      `UNWIND ['a.pdf', '{}'] AS payload
       CREATE (:${label} {id: 'stuck-' + payload, status: 'processing', lock_owner: 'gone', payload: payload,
                          lock_until: datetime() - duration('PT1S')})`,
    )
    const { reaped } = await store.sweepJobs()
    expect(idsOf(reaped)).toEqual(['stuck-a.pdf', 'stuck-{}'])
    const { records } = await bench.driver.executeQuery(
      `MATCH (j:${label}) WHERE j.status = 'pending' RETURN j.payload AS payload ORDER BY payload`,
    )
    expect(records.map((record) => record.get('payload'))).toEqual(['a.pdf', '{}'])
    expect((await store.readHealth()).waiting).toBe(2)
    expect((await store.listJobs()).jobs).toHaveLength(2)
    expect(await store.claimJob('stuck-a.pdf', { workerId: 'worker-a' })).toBe('not-claimable')
  })

  it('OPS-13 OPS-14 a sweep in mode observe changes no node, not even one that it would adopt', async () => {
    await store.setMode('observe')
    await bench.driver.executeQuery(
      `CREATE (:${label} {id: 'new', status: 'pending'}),
              (:${label} {id: 'stuck', status: 'processing', lock_until: datetime() - duration('PT1S')})`,
    )
    const read = async () =>
      (await bench.driver.executeQuery(`MATCH (j:${label}) RETURN labels(j), properties(j) ORDER BY j.id`))
        .records
    const before = await read()
    const { reaped } = await store.sweepJobs({ reaper: { reaperId: 'reaper-1' } })
    expect(reaped).toMatchObject([{ jobId: 'stuck', action: 'reported', reason: 'would_be_requeued' }])
    expect(await read()).toEqual(before)
    await store.setMode('reap')
  })

  it('OPS-13 reports status words and ids that the profile does not explain, and never claims them', async () => {
    await bench.driver.executeQuery(
      `CREATE (:${label} {id: 'upper', status: 'PENDING'}), (:${label} {id: 7, status: 'pending'}),
              (:${label} {status: 'pending'})`,
    )
    await store.sweepJobs()
    await store.sweepJobs()
    expect(reasons()).toEqual([
      expect.stringContaining("'PENDING'"),
      expect.stringContaining('a number as id'),
    ])
    expect(await store.claimJobs(claim)).toHaveLength(1)
  })

  it('OPS-13 reports such nodes if the install adopted them', async () => {
    await bench.driver.executeQuery(`CREATE (:${label} {id: 'upper', status: 'PENDING'})`)
    await installNeo4j({ driver: bench.driver, label })
    await store.sweepJobs()
    expect(reasons()).toEqual([expect.stringContaining("'PENDING'")])
  })

  it('OPS-13 reports a node without a status, adopted or not, until it has one', async () => {
    await bench.driver.executeQuery(
      `CREATE (:${label} {id: 'none'}), (:${label} {id: 'empty', status: ''}), (:${label} {id: 'number', status: 1}),
              (:${label} {id: 'flag', status: true}), (:${label} {id: 'fine', status: 'pending'})`,
    )
    await store.sweepJobs()
    const withoutStatus = expect.stringMatching(/without a status.*: .*none$/)
    expect(reasons()).toEqual([
      expect.stringContaining("the status ''"),
      expect.stringContaining("the status '1'"),
      expect.stringContaining("the status 'true'"),
      withoutStatus,
    ])
    expect(await store.claimJobs(claim)).toMatchObject([{ jobId: 'fine' }])
    await bench.driver.executeQuery(`MATCH (j:${label} {id: 'none'}) SET j.status = 'pending'`)
    expect(await store.claimJobs(claim)).toMatchObject([{ jobId: 'none' }])
    const seen: string[] = []
    const later = createNeo4jStore({
      driver: bench.driver,
      label,
      onNotice: ({ reason }) => seen.push(reason),
    })
    await later.sweepJobs()
    expect(seen).not.toContainEqual(withoutStatus)
    const { records } = await bench.driver.executeQuery(`MATCH (j:${label}WithoutStatus) RETURN j.id`)
    expect(records).toEqual([])
  })

  it('OPS-13 OPS-14 a sweep in mode observe reports them too, each reason once, and changes no node', async () => {
    await store.setMode('observe')
    await bench.driver.executeQuery(
      `CREATE (:${label} {name: 'none'}), (:${label} {id: 'upper', status: 'PENDING'})`,
    )
    await store.sweepJobs({ reaper: { reaperId: 'reaper-1' } })
    await store.sweepJobs({ reaper: { reaperId: 'reaper-1' } })
    expect(reasons()).toEqual([
      expect.stringContaining("'PENDING'"),
      expect.stringContaining('without a status'),
    ])
    const { records } = await bench.driver.executeQuery(`MATCH (j:${label} {name: 'none'}) RETURN j`)
    expect(records[0]?.get('j')).toMatchObject({ labels: [label], properties: { name: 'none' } })
  })
})

const HOUR_AGO = Date.now() - 3_600_000

describe('nodes of a profile that extends embedding', () => {
  it.each<[kind: string, differences: TableDifferences, past: unknown]>([
    ['epoch ms', { epochUnit: 'ms' }, neo4j.int(HOUR_AGO)],
    ['epoch s', { epochUnit: 's' }, neo4j.int(Math.floor(HOUR_AGO / 1000))],
    ['ISO text', {}, new Date(HOUR_AGO).toISOString()],
    ['localdatetime', { timeZone: 'UTC' }, localTime(HOUR_AGO)],
  ])(
    'OPS-13 a lock_until as %s is understood, and written in the type of the profile',
    async (_kind, given, past) => {
      await withProfile(given, async (store, driver, label) => {
        await driver.executeQuery(
          `CREATE (:${label} {id: 'stuck', status: 'processing', lock_owner: 'gone', lock_until: $past, created_at: $past}),
                (:${label} {id: 'waiting', status: 'pending', created_at: $past})`,
          { past },
        )
        expect((await store.sweepJobs()).reaped).toMatchObject([{ jobId: 'stuck', action: 'requeued' }])
        const claimed = await store.claimJobs({ ...claim, limit: 2 })
        expect(claimed.map(({ jobId }) => jobId).toSorted()).toEqual(['stuck', 'waiting'])
        const lock = await lockOf(driver, label, 'waiting')
        if (given.epochUnit !== undefined) {
          const unit = given.epochUnit === 's' ? 1000 : 1
          expect(Number(lock) * unit).toBeGreaterThan(Date.now())
        } else
          expect(given.timeZone === undefined ? neo4j.isDateTime(lock) : neo4j.isLocalDateTime(lock)).toBe(
            true,
          )
        expect((await store.sweepJobs()).reaped).toEqual([])
        expect((await store.heartbeatJobs(claimed)).answers).toMatchObject([
          { answer: 'kept' },
          { answer: 'kept' },
        ])
        expect(await store.completeJobs(claimed)).toMatchObject([
          { outcome: 'completed' },
          { outcome: 'completed' },
        ])
      })
    },
  )

  it.each(['Document_Job', 'document_job', 'A_2'])('OPS-13 %s is a label like any other', (label) =>
    withProfile({ table: label }, async (store, driver) => {
      await driver.executeQuery(
        `CREATE (:${label} {id: 'waiting', status: 'pending'}), (:${label} {id: 'none'}),
                (:${label} {id: 'stuck', status: 'processing', lock_until: datetime() - duration('PT1S')})`,
      )
      expect((await store.sweepJobs()).reaped).toMatchObject([{ jobId: 'stuck' }])
      const claimed = await store.claimJobs(claim)
      expect(claimed).toHaveLength(2)
      expect(await store.completeJobs(claimed)).toMatchObject([
        { outcome: 'completed' },
        { outcome: 'completed' },
      ])
      expect((await store.listEvents('stuck')).length).toBeGreaterThan(1)
    }),
  )

  it.each(['2nd', 'Document Job', 'Job`', 'Größe', ''])(
    'OPS-13 the label %j is refused with the rule',
    (label) => {
      const { driver } = openDriver(inject('neo4jUrl'))
      expect(() => createNeo4jStore({ driver, label })).toThrow('letters, digits and underscores')
      return driver.close()
    },
  )

  it('OPS-13 other property names, status words, integer ids and several running words are mapped', async () => {
    const differences: TableDifferences = {
      columns: {
        id: 'unstuck id',
        status: 'state',
        lease_expires_at: 'lockedUntil',
        worker_id: 'locked `by`',
      },
      statuses: { waiting: 'PENDING', running: ['RUNNING', 'CHUNKING'], succeeded: 'DONE', dead: 'FAILED' },
    }
    await withProfile(differences, async (store, driver, label) => {
      await driver.executeQuery(
        `CREATE (:${label} {id: 1, state: 'PENDING'}), (:${label} {id: 2, state: 'DONE'}),
                (:${label} {id: 3, state: 'CHUNKING', \`locked \`\`by\`\`\`: 'gone', lockedUntil: datetime() - duration('PT1S')})`,
      )
      expect((await store.sweepJobs()).reaped).toMatchObject([{ action: 'requeued' }])
      const states = async () =>
        (await driver.executeQuery(`MATCH (j:${label}) RETURN j.state AS state ORDER BY j.id`)).records.map(
          (record) => record.get('state') as string,
        )
      expect(await states()).toEqual(['PENDING', 'DONE', 'PENDING'])
      const [first, ...rest] = await store.claimJobs(claim)
      if (first === undefined) throw new Error('there was no job to claim')
      expect(rest).toHaveLength(1)
      expect(await states()).toEqual(['RUNNING', 'DONE', 'RUNNING'])
      await store.completeJobs([first])
      await store.failJobs(rest.map((lease) => ({ ...lease, isRetryable: false })))
      expect((await states()).toSorted()).toEqual(['DONE', 'DONE', 'FAILED'])
      expect((await store.listJobs({ status: 'dead' })).jobs).toHaveLength(1)
      expect((await store.groupDeadJobs()).groups).toHaveLength(1)
      const { jobId } = (await store.enqueueJobs([{ type: 'embed' }]))[0] ?? {}
      expect(await store.getJob(jobId ?? '')).toMatchObject({ status: 'waiting' })
    })
  })
})

/** A store over a label of its own, from a profile as a config file gives it. */
async function withProfile(
  differences: TableDifferences,
  act: (store: JobStore, driver: Driver, label: string) => Promise<void>,
): Promise<void> {
  const { table: label = 'ExtendedTeamJob' } = differences
  const [table] = extendProfile({
    name: 'documents',
    extends: 'embedding',
    tables: [{ table: label, ...differences }],
  }).tables
  const { driver } = openDriver(inject('neo4jUrl'))
  try {
    await clear(driver, label)
    await installNeo4j({ driver, table })
    expect(await readNeo4jStatus({ driver, table })).toMatchObject({ pending: [] })
    await act(createNeo4jStore({ driver, table }), driver, label)
  } finally {
    await removeNeo4j({ driver, table })
    await clear(driver, label)
    await driver.close()
  }
}

function localTime(ms: number) {
  const [date = '', clock = ''] = new Date(ms).toISOString().split('T')
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  const [hour = 0, minute = 0, second = 0] = clock.slice(0, 8).split(':').map(Number)
  return new neo4j.types.LocalDateTime(year, month, day, hour, minute, second, 0)
}

async function lockOf(driver: Driver, label: string, id: string): Promise<unknown> {
  const { records } = await driver.executeQuery(`MATCH (j:${label} {id: $id}) RETURN j.lock_until AS lock`, {
    id,
  })
  return records[0]?.get('lock')
}
