// The conformance suite's view of the Neo4j store: a real server, time moved by shifting what is stored.
import { randomUUID } from 'node:crypto'
import neo4j, { type Driver } from 'neo4j-driver'
import { inject } from 'vitest'
import type { Job } from '../../../../src/job/job.ts'
import { nativePolicy, type Policy } from '../../../../src/policy/policy.ts'
import type { StoreHarness } from '../../../../src/store/conformance/harness.ts'
import type { JobStore } from '../../../../src/store/job-store.ts'
import { emptyRow } from '../../../../src/store/memory/state/new-job.ts'
import { installNeo4j } from '../../../../src/store/neo4j/install.ts'
import { createNeo4jStore } from '../../../../src/store/neo4j/neo4j-store.ts'
import { openDriver } from '../../../../src/store/neo4j/open-neo4j-store.ts'
import { toNode } from '../../../../src/store/neo4j/state/job-node.ts'
import { fromBody, toBody } from '../../../../src/store/neo4j/state/record-body.ts'

export interface Neo4jBench {
  driver: Driver
  label: string
  open(): Promise<StoreHarness>
  close(): Promise<void>
}

/** Labels of a file's own, so that files do not meet. */
export async function createNeo4jBench(label: string, policy: Policy = nativePolicy): Promise<Neo4jBench> {
  const { driver } = openDriver(inject('neo4jUrl'))
  await installNeo4j({ driver, label })
  await warmUp(createNeo4jStore({ driver, label, policy }))
  return {
    driver,
    label,
    async open() {
      await clear(driver, label)
      return {
        store: createNeo4jStore({ driver, label, policy }),
        elapse: (ms) => elapse(driver, label, ms),
        plantJob: (fields) => plantJob(driver, label, fields),
        hasTransactions: false,
        close: async () => {},
      }
    },
    async close() {
      await clear(driver, label)
      await driver.close()
    },
  }
}

/** A statement is planned when it is first run, and on a busy machine that takes seconds: tests that look at times come after. */
async function warmUp(store: JobStore): Promise<void> {
  await store.enqueueJobs([{ type: 'warm-up' }, { type: 'warm-up' }, { type: 'warm-up' }])
  const [first, second] = await store.claimJobs({ workerId: 'warm-up', queues: ['warm-up'], limit: 3 })
  if (first === undefined || second === undefined) throw new Error('the store claims nothing')
  await store.heartbeatJobs([first])
  await store.failJobs([first])
  await store.completeJobs([second])
  await store.sweepJobs({ policy: { legacyAgeRule: true } })
  await store.readHealth()
}

export async function clear(driver: Driver, label: string): Promise<void> {
  await driver.executeQuery(`MATCH (n:${label}|${label}Event|${label}Bucket|${label}Record) DETACH DELETE n`)
}

/** For more nodes than one transaction should delete. */
export async function clearInBatches(driver: Driver, label: string): Promise<void> {
  const session = driver.session()
  await session.run(
    `MATCH (n:${label}|${label}Event|${label}Bucket|${label}Record)
     CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS`,
  )
  await session.close()
}

/** Every stored time goes back by `ms`, which is the same as the clock going on by it. */
async function elapse(driver: Driver, label: string, ms: number): Promise<void> {
  await driver.executeQuery(
    `MATCH (n:${label}|${label}Event)
     UNWIND [key IN keys(n) WHERE key ENDS WITH '_at' OR key IN ['at', 'lock_until']] AS key
     WITH n, key, n[key] AS time
     CALL apoc.create.setProperty(n, key, time - duration({milliseconds: $ms})) YIELD node
     RETURN count(*)`,
    { ms: neo4j.int(ms) },
  )
  await shiftTexts(driver, `${label}Record`, 'body', (body) => toBody(shift(fromBody(body), ms)))
  await shiftTexts(driver, `${label}Event`, 'details', (details) =>
    JSON.stringify(shift(JSON.parse(details), ms)),
  )
}

/** But for the mode, whose start is only shown. */
async function shiftTexts(
  driver: Driver,
  label: string,
  property: string,
  change: (text: string) => string,
): Promise<void> {
  const { records } = await driver.executeQuery(
    `MATCH (n:${label}) WHERE n[$property] IS NOT NULL AND coalesce(n.path, '') <> 'settings/mode' RETURN elementId(n) AS id, n[$property] AS text`,
    { property },
  )
  const rows = records.map((record) => ({ id: record.get('id'), text: change(record.get('text')) }))
  await driver.executeQuery(
    `UNWIND $rows AS row MATCH (n:${label}) WHERE elementId(n) = row.id SET n.${property} = row.text`,
    { rows },
  )
}

/** No duration of a policy is so long: a number from here on is a time. */
const FIRST_TIME_MS = 1_000_000_000_000
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function shift(value: unknown, ms: number): unknown {
  if (value instanceof Date) return new Date(value.getTime() - ms)
  if (typeof value === 'number') return value >= FIRST_TIME_MS ? value - ms : value
  if (typeof value === 'string' && TIME.test(value)) return new Date(Date.parse(value) - ms).toISOString()
  if (Array.isArray(value)) return value.map((one) => shift(one, ms))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shift(one, ms)]))
}

/** A node in any state, as an old worker or a hand would have left it. */
async function plantJob(driver: Driver, label: string, fields: Partial<Job>): Promise<string> {
  const id = fields.id ?? randomUUID()
  const type = fields.type ?? 'planted'
  const row = { ...emptyRow(id, new Date()), type, queue: type, ...fields }
  await driver.executeQuery(`CREATE (j:${label}) SET j = $row`, { row: toNode(row) })
  return id
}
