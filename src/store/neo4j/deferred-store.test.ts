import { expect, it } from 'vitest'
import { embeddingProfile } from '../../profile/embedding.ts'
import { deferNeo4jStore } from './deferred-store.ts'

it('OPS-15 WORK-9 a store that is not open yet has no shards and no notifications of waits', () => {
  const { store } = deferNeo4jStore('neo4j://127.0.0.1:1', embeddingProfile.tables[0])
  for (const absent of ['shards', 'beginWaits', 'endWaits'])
    expect(Reflect.get(store, absent)).toBeUndefined()
  expect(Reflect.get(store, 'claimJobs')).toBeTypeOf('function')
})
