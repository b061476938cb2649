import neo4j from 'neo4j-driver'
import { expect, it } from 'vitest'
import { toDateTime, toJob } from './job-node.ts'
import { payloadReader } from './payload-properties.ts'

const node = {
  id: '1',
  memory_id: 'm-1',
  tokens: neo4j.int(12),
  version: neo4j.int('9007199254740993'),
  tags: ['a', 'b'],
  seen_at: toDateTime(new Date('2026-01-02T03:04:05Z')),
  secret: 's',
}
const read = payloadReader({
  memoryId: 'memory_id',
  tokens: 'tokens',
  version: 'version',
  tags: 'tags',
  seenAt: 'seen_at',
  none: 'none',
})
const readNode = (job: Record<string, unknown>) => read(job, job)
const payloadOf = (properties: object) => toJob(readNode({ ...node, ...properties })).payload

it('OPS-13 the properties that the profile names are the payload of a node, and no other', () => {
  expect(payloadOf({})).toEqual({
    memoryId: 'm-1',
    tokens: 12,
    version: '9007199254740993',
    tags: ['a', 'b'],
    seenAt: expect.stringMatching(/^2026-01-02T03:04:05/),
    none: null,
  })
})

it('OPS-13 an enqueued payload is kept over the properties of a node', () => {
  expect(payloadOf({ payload: '{"tokens":1,"more":true}' })).toMatchObject({
    memoryId: 'm-1',
    tokens: 1,
    more: true,
  })
  expect(payloadOf({ payload: '["x"]' })).toEqual(['x'])
  // Set aside elsewhere.
  expect(readNode({ ...node, payload: '{' })).toEqual({ ...node, payload: '{' })
})

it('OPS-13 the names of the profile are those of the team, whatever the engine calls the property', () => {
  const stored = { ...node, data: '{"tokens":1}' }
  expect(JSON.parse(String(read({ id: '1', payload: stored.data }, stored)['payload']))).toMatchObject({
    memoryId: 'm-1',
    tokens: 1,
  })
})

it('OPS-13 nodes without such a profile are left as they are', () => {
  expect(payloadReader()(node, node)).toBe(node)
})
