// Finished jobs stay for weeks: no statement of a worker or a sweep may look at all of them.
import neo4j from 'neo4j-driver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCypher } from '../../../src/store/neo4j/graph/cypher-files.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'PlanJob'
const one = neo4j.int(1)
const now = neo4j.types.DateTime.fromStandardDate(new Date())
const due = { passed: [], types: null, window: one }
const cursors = [{ queue: 'embed', after: one }]
const levels = [{ queue: 'embed', priority: one }]
const anyJob = { type: null, queue: null, owner: null, lockOwner: null, errorCode: null, causeId: null }
const everyJob = { ...anyJob, before: 'a', limit: one }

interface Step {
  operatorType: string
  children?: Step[]
}

describe('plans on nodes', () => {
  let bench: Neo4jBench
  beforeAll(async () => {
    bench = await createNeo4jBench(label)
    await bench.open()
    await bench.driver.executeQuery(
      `UNWIND range(1, 5000) AS n
       CREATE (:${label} {id: 'done-' + n, status: 'completed', queue: 'embed', type: 'embed', priority: 0,
         bucket: n % 8, ended_at: datetime(), created_at: datetime()}),
       (:${label}Event {id: n, job_id: 'done-' + n, type: 'complete', at: datetime()}),
       (:${label}Record {path: 'workers/' + n, kind: 'workers', body: '{}'})`,
    )
    // Indexes are counted in the background, and a plan that is made before that is another.
    await bench.driver.executeQuery('CALL db.prepareForReplanning(100)')
  })
  afterAll(() => bench.close())

  it.each<[name: string, parameters: { [name: string]: unknown }]>([
    ['find_due', { ...due, cursors }],
    ['lock_due', { ...due, levels, limit: one, buckets: ['embed/1'], bucket: one }],
    ['lock_jobs', { ids: ['a'] }],
    ['write_jobs', { rows: [{ id: 'a' }] }],
    ['delete_jobs', { ids: ['a'] }],
    ['lock_records', { paths: ['a'] }],
    ['read_records', { kinds: ['settings'] }],
    ['read_records_at', { paths: ['a'] }],
    ['write_records', { rows: [{ path: 'a', kind: 'b', before: null, body: 'c' }] }],
    ['find_key_holders', { keys: ['a'] }],
    ['list_events_of', { jobIds: ['a'] }],
    ['list_running', {}],
    ['read_schedule_types', { key: 'schedule:a' }],
    ['count_waiting', {}],
    ['count_ahead', { queue: 'embed', priority: one, due: now, id: 'a' }],
    ['find_prunable', { before: now, limit: one }],
    ['list_reclaims', { before: null, lockOwner: null, stage: null, limit: one }],
    ['list_rescues', { windowMs: one }],
    ['read_job', { id: 'a' }],
    ['list_jobs', { ...everyJob, status: null, isCancelled: null }],
    ['list_running_jobs', everyJob],
    ['read_last_event', { before: one, skip: one }],
    ['list_events_between', { after: one, before: one, limit: one }],
    ['write_request', { path: 'a', body: 'b' }],
    ['forget_requests', {}],
  ])('FAIL-6 %s is found by an index', async (name, parameters) => {
    const { summary } = await bench.driver.executeQuery(`EXPLAIN ${readCypher(name, label)}`, parameters)
    const steps = summary.plan === false ? [] : operatorsOf(summary.plan)
    expect(steps.some((step) => step.includes('Index'))).toBe(true)
    expect(steps.filter((step) => /NodeByLabelScan|AllNodesScan|NodeIndexScan/.test(step))).toEqual([])
  })
})

function operatorsOf({ operatorType, children = [] }: Step): string[] {
  return [operatorType, ...children.flatMap(operatorsOf)]
}
