import neo4j from 'neo4j-driver'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { installNeo4j, readNeo4jStatus, removeNeo4j } from '../../../src/store/neo4j/install.ts'
import { createNeo4jStore } from '../../../src/store/neo4j/neo4j-store.ts'
import { openDriver, openNeo4jStore } from '../../../src/store/neo4j/open-neo4j-store.ts'
import { clear, createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'
import { startNeo4j } from './server/neo4j-server.ts'

const jars = process.env['UNSTUCK_TEST_NEO4J_JARS']
const label = 'BadInputJob'

describe('what is wrong with a Neo4j', () => {
  let bench: Neo4jBench
  beforeAll(async () => {
    bench = await createNeo4jBench(label)
  })
  afterAll(() => bench.close())

  it('OPS-8 a wrong password is reported as such, and not shown', async () => {
    const url = new URL(inject('neo4jUrl'))
    url.password = 'not-the-password'
    const error = await openNeo4jStore({ url: url.href }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'PERMISSION_DENIED', hint: expect.stringContaining('password') })
    expect(JSON.stringify(error)).not.toContain('not-the-password')
  })

  it('OPS-8 an address of neo4j:// leads to the member that takes writes', async () => {
    const store = await openNeo4jStore({ url: inject('neo4jUrl').replace('bolt:', 'neo4j:'), label })
    const [job] = await store.enqueueJobs([{ type: 'embed' }])
    expect((await store.getJob(job?.jobId ?? ''))?.status).toBe('waiting')
    await store.close()
  })

  it('OPS-8 an address where nobody answers is reported as unreachable, and may be retried', async () => {
    const opening = openNeo4jStore({ url: 'bolt://neo4j:x@127.0.0.1:1' })
    await expect(opening).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE', isRetryable: true })
  })

  it('OPS-8 a database that does not exist is named', async () => {
    const opening = openNeo4jStore({ url: `${inject('neo4jUrl')}/nothere` })
    await expect(opening).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  it.each(['', 'postgres://a:b@host/db', 'not an address'])('OPS-8 refuses the address %j', async (url) => {
    await expect(openNeo4jStore({ url })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it.each(['', '1Job', 'Two Words', 'Job`) DETACH DELETE n //'])('OPS-8 refuses the label %j', (bad) => {
    expect(() => createNeo4jStore({ driver: bench.driver, label: bad })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })

  it.skipIf(jars === undefined)(
    'OPS-8 a server without APOC is told what to install',
    async () => {
      const bare = await startNeo4j({ jars: jars ?? '', hasApoc: false })
      try {
        const error = { code: 'NOT_INSTALLED', hint: expect.stringContaining('apoc-core') }
        await expect(openNeo4jStore({ url: bare.url })).rejects.toMatchObject(error)
        const { driver } = openDriver(bare.url)
        await expect(createNeo4jStore({ driver }).pruneJobs()).resolves.toEqual({ deleted: 0, next: null })
        await expect(installNeo4j({ driver })).rejects.toMatchObject(error)
        await driver.close()
      } finally {
        await bare.stop()
      }
    },
    300_000,
  )

  it('OPS-8 what the store has not is refused by name', async () => {
    const { store } = await bench.open()
    const refused = { code: 'NOT_SUPPORTED' }
    await expect(store.listWebhooks()).rejects.toMatchObject(refused)
    await expect(store.countDispatches()).rejects.toMatchObject(refused)
    await expect(store.setMode('enforce')).rejects.toMatchObject(refused)
    await expect(store.listOperations()).rejects.toMatchObject(refused)
    await expect(store.writePolicy({ dispatch: 'requeued' })).rejects.toMatchObject(refused)
    await expect(store.completeJobs([], { tx: {} as never })).rejects.toMatchObject(refused)
  })
})

describe('install and removal', () => {
  it('OPS-5 OPS-7 may be run again, removal takes out what was made and leaves the jobs', async () => {
    const { driver } = openDriver(inject('neo4jUrl'))
    const own = { driver, label: 'InstalledJob' }
    await installNeo4j(own)
    await installNeo4j(own)
    const store = createNeo4jStore(own)
    await store.enqueueJobs([{ type: 'embed', payload: { document: 'a.pdf' } }])
    await store.pauseQueue('embed')
    await removeNeo4j(own)
    await removeNeo4j(own)
    const left = await driver.executeQuery(
      "SHOW INDEXES YIELD name WHERE name STARTS WITH 'InstalledJob' RETURN count(*) AS indexes",
    )
    expect(left.records[0]?.get('indexes')).toEqual(neo4j.int(0))
    const jobs = await driver.executeQuery('MATCH (j:InstalledJob) RETURN properties(j) AS node')
    expect(jobs.records).toHaveLength(1)
    expect(jobs.records[0]?.get('node')).not.toHaveProperty('touched')
    const others = await driver.executeQuery('MATCH (n:InstalledJobRecord|InstalledJobBucket) RETURN n')
    expect(others.records).toEqual([])
    await clear(driver, 'InstalledJob')
    await driver.close()
  })

  it('OPS-13 a plain index of the team on id does not break the install, and stays', async () => {
    const { driver } = openDriver(inject('neo4jUrl'))
    const own = { driver, label: 'IndexedJob' }
    await driver.executeQuery('CREATE INDEX team_job_id FOR (j:IndexedJob) ON (j.id)')
    await driver.executeQuery('CALL db.awaitIndexes(60)')
    try {
      await installNeo4j(own)
      expect(await readNeo4jStatus(own)).toMatchObject({ pending: [] })
      const store = createNeo4jStore(own)
      await store.enqueueJobs([{ type: 'embed' }])
      const [job] = await store.claimJobs({ workerId: 'worker-a', queues: ['embed'], limit: 1 })
      if (job === undefined) throw new Error('there was no job to claim')
      await store.completeJobs([job])
      await removeNeo4j(own)
      const { records } = await driver.executeQuery(
        "SHOW INDEXES YIELD name, labelsOrTypes WHERE labelsOrTypes = ['IndexedJob'] RETURN name",
      )
      expect(records.map((record) => record.get('name') as string)).toEqual(['team_job_id'])
    } finally {
      await driver.executeQuery('DROP INDEX team_job_id IF EXISTS')
      await clear(driver, 'IndexedJob')
      await driver.close()
    }
  })
})
