// Many jobs wait: a claim and a sweep read as many nodes as they need, not as many as there are.
import neo4j, { type Driver, type ProfiledPlan } from 'neo4j-driver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createNeo4jStore } from '../../../src/store/neo4j/neo4j-store.ts'
import { clearInBatches, createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const FEW = 1_000
const MANY = Number(process.env['UNSTUCK_TEST_PENDING'] ?? 100_000)
const labels = { [FEW]: 'FewPendingJob', [MANY]: 'ManyPendingJob' } as const
const sizes = [FEW, MANY]

describe('a backlog of nodes', () => {
  const benches = new Map<number, Neo4jBench>()
  beforeAll(async () => {
    for (const size of sizes) {
      const bench = await createNeo4jBench(labels[size] ?? '')
      await bench.open()
      await fill(bench.driver, bench.label, size)
      await bench.driver.executeQuery('CALL db.prepareForReplanning(100)')
      benches.set(size, bench)
    }
  }, 900_000)
  afterAll(async () => {
    for (const { driver, label } of benches.values()) {
      await clearInBatches(driver, label)
      await driver.close()
    }
  }, 300_000)

  const hitsBySize = async (act: (store: JobStore) => Promise<unknown>) => {
    const counted: number[] = []
    for (const size of sizes) {
      const { driver, label } = benches.get(size) ?? unprepared()
      let hits = 0
      const store = createNeo4jStore({ driver: profiled(driver, (count) => (hits += count)), label })
      // The first sweep of a process looks at all labels.
      await store.sweepJobs()
      hits = 0
      await act(store)
      counted.push(hits)
    }
    return counted
  }

  it(`FAIL-6 OPS-13 a claim of ten out of ${MANY} costs at most twice one out of ${FEW}`, async () => {
    const [few = 0, many = 0] = await hitsBySize(async (store) => {
      const jobs = await store.claimJobs({ workerId: 'worker-a', queues: ['embed'], limit: 10 })
      expect(jobs).toHaveLength(10)
      await store.releaseJobs(jobs)
    })
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThanOrEqual(2 * few)
  })

  it(`FAIL-6 OPS-13 jobs of a later priority are found behind ${MANY} that are not due`, async () => {
    const [few = 0, many = 0] = await hitsBySize(async (store) => {
      const jobs = await store.claimJobs({ workerId: 'worker-a', queues: ['scheduled'], limit: 10 })
      expect(jobs.map(({ priority }) => priority)).toEqual([5, 5, 5])
      await store.releaseJobs(jobs)
    })
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThanOrEqual(2 * few)
  })

  it(`FAIL-6 OPS-13 a sweep with nothing to do beside ${MANY} costs at most twice one beside ${FEW}`, async () => {
    const [few = 0, many = 0] = await hitsBySize(async (store) => {
      expect((await store.sweepJobs()).reaped).toEqual([])
    })
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThanOrEqual(2 * few)
  })

  it(`OPS-13 a node that the application creates beside ${MANY} is adopted by the next sweep`, async () => {
    const { driver, label } = benches.get(MANY) ?? unprepared()
    const store = createNeo4jStore({ driver, label })
    await store.sweepJobs()
    await driver.executeQuery(`CREATE (:${label} {status: 'pending', queue: 'mine', document: 'a.pdf'})`)
    await store.sweepJobs()
    expect(await store.claimJobs({ workerId: 'worker-a', queues: ['mine'], limit: 5 })).toHaveLength(1)
  })
})

function unprepared(): never {
  throw new Error('there is no bench of this size')
}

/** Half of them due in one queue; the other half in another queue, due tomorrow, but for three of a later priority. */
async function fill(driver: Driver, label: string, count: number): Promise<void> {
  const session = driver.session()
  await session.run(
    `UNWIND range(1, $count) AS n
     WITH n, n % 2 = 0 AS isDue
     CALL {
       WITH n, isDue
       CREATE (:${label}:${label}Known {id: randomUUID(), type: 'embed', status: 'pending', payload: '{}', bucket: n % 8,
         queue: CASE WHEN isDue THEN 'embed' ELSE 'scheduled' END,
         priority: CASE WHEN n IN [1, 3, 5] THEN 5 ELSE 0 END, created_at: datetime.statement(),
         due_at: datetime.statement() + CASE WHEN isDue OR n IN [1, 3, 5] THEN duration({milliseconds: -n})
                                             ELSE duration({days: 1, milliseconds: n}) END})
     } IN TRANSACTIONS OF 5000 ROWS`,
    { count: neo4j.int(count) },
  )
  await session.close()
}

/** Profiles every statement that runs through this driver. */
function profiled(driver: Driver, onHits: (count: number) => void): Driver {
  type Runner = { run: (statement: string, parameters?: object) => Promise<unknown> }
  const watched = <T extends Runner>(runner: T): T =>
    wrapped(runner, {
      run: async (statement: string, parameters?: object) => {
        const isProfiled = !/^\s*(SHOW|CALL db\.)/.test(statement)
        const answer = (await runner.run(isProfiled ? `PROFILE ${statement}` : statement, parameters)) as {
          summary: { profile: ProfiledPlan | false }
        }
        if (answer.summary.profile !== false) onHits(hitsOf(answer.summary.profile))
        return answer
      },
    })
  type Work = (tx: Runner) => Promise<unknown>
  return wrapped(driver, {
    session: (options?: object) => {
      const session = driver.session(options)
      return wrapped(watched(session), {
        executeRead: (work: Work) => session.executeRead((tx) => work(watched(tx))),
        executeWrite: (work: Work) => session.executeWrite((tx) => work(watched(tx))),
      })
    },
  })
}

function wrapped<T extends object>(whole: T, parts: { [name: string]: unknown }): T {
  return new Proxy(whole, {
    get(target, name) {
      if (typeof name === 'string' && name in parts) return parts[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function hitsOf({ dbHits, children }: ProfiledPlan): number {
  return children.reduce((sum, child) => sum + hitsOf(child), dbHits)
}
