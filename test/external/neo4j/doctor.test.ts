import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { diagnose } from '../../../src/doctor/diagnose.ts'
import type { Finding } from '../../../src/doctor/finding.ts'
import { embeddingProfile } from '../../../src/profile/embedding.ts'
import type { StoreHarness } from '../../../src/store/conformance/harness.ts'
import { readGraphFacts } from '../../../src/store/neo4j/read-graph-facts.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'DoctorJob'
const reaper = { reaperId: 'reaper-1' }

describe('doctor on nodes', () => {
  let bench: Neo4jBench
  let harness: StoreHarness
  beforeAll(async () => {
    bench = await createNeo4jBench(label, embeddingProfile.tables[0].policy)
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    harness = await bench.open()
  })

  async function examine(): Promise<Finding[]> {
    const { driver } = bench
    return diagnose(await readGraphFacts({ driver, label }, harness.store, {}))
  }
  const levelsOf = (findings: Finding[], check: string) =>
    findings.filter((finding) => finding.check === check).map(({ level }) => level)

  it('OPS-8 a healthy store has no problem, and one warning about the heartbeat of document 002', async () => {
    await harness.store.enqueueJobs([{ type: 'embed' }])
    await harness.store.sweepJobs({ reaper })
    const findings = await examine()
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
    const warnings = findings.filter(({ level }) => level === 'warning')
    expect(warnings.map(({ check }) => check)).toEqual(['lease vs beat'])
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['connection', 'migrations', 'reaper', 'status words', 'nodes']),
    )
  })

  it('OPS-8 reports a reaper that never swept, and nodes that are not adopted', async () => {
    await bench.driver.executeQuery(`CREATE (:${label} {status: 'pending'})`)
    const findings = await examine()
    expect(levelsOf(findings, 'no reaper')).toEqual(['problem'])
    expect(findings).toContainEqual(expect.objectContaining({ check: 'nodes', level: 'warning' }))
  })

  it('OPS-13 reports status words, ids and times that are not understood', async () => {
    await bench.driver.executeQuery(
      `CREATE (:${label} {id: 'upper', status: 'PENDING'}), (:${label} {id: 7, status: 'pending'}),
              (:${label} {id: 'epoch', status: 'processing', lock_until: timestamp() - 60000}), (:${label} {id: 'none'})`,
    )
    await harness.store.sweepJobs({ reaper })
    const findings = await examine()
    const messages = findings.filter(({ level }) => level === 'problem').map(({ message }) => message)
    expect(messages).toEqual([
      expect.stringContaining("'PENDING' (1)"),
      expect.stringMatching(/1 job without a status.*: none$/),
      expect.stringContaining('a number as id'),
      expect.stringMatching(/lock_until .*: epoch/),
    ])
  })

  it('OPS-8 a removed index is a problem', async () => {
    await bench.driver.executeQuery(`DROP INDEX ${label}_ended`)
    try {
      expect(levelsOf(await examine(), 'migrations')).toEqual(['problem'])
    } finally {
      await bench.driver.executeQuery(
        `CREATE INDEX ${label}_ended IF NOT EXISTS FOR (j:${label}) ON (j.ended_at)`,
      )
    }
  })
})
