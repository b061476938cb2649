// Nodes of an application that hold the parts of a payload in properties.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { embeddingProfile } from '../../../src/profile/embedding.ts'
import { createNeo4jStore } from '../../../src/store/neo4j/neo4j-store.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'PayloadJob'
let bench: Neo4jBench
beforeAll(async () => {
  bench = await createNeo4jBench(label, embeddingProfile.tables[0].policy)
})
afterAll(() => bench.close())

it('OPS-13 a worker gets the properties that the profile names, and no call writes them into the payload', async () => {
  await bench.driver.executeQuery(
    `CREATE (:${label} {id: 'n', status: 'pending', created_at: datetime(), memory_id: 'm-1', secret: 's'})`,
  )
  const store = createNeo4jStore({ driver: bench.driver, label, payload: { memoryId: 'memory_id' } })
  await store.sweepJobs()
  const [job] = await store.claimJobs({ workerId: 'w', queues: ['embed'], limit: 1 })
  expect(job).toMatchObject({ jobId: 'n', payload: { memoryId: 'm-1' } })
  expect(job?.payload).toEqual({ memoryId: 'm-1' })
  if (job !== undefined) await store.completeJobs([job])
  expect((await store.getJob('n'))?.payload).toEqual({ memoryId: 'm-1' })
  const { records } = await bench.driver.executeQuery(
    `MATCH (j:${label} {id: 'n'}) RETURN j.memory_id AS memory, j.payload AS payload, j.status AS status`,
  )
  expect(records.map((record) => record.toObject())).toEqual([
    {
      memory: 'm-1',
      payload: expect.toSatisfy((stored) => stored === null || stored === '{}'),
      status: 'completed',
    },
  ])
})
