// The Neo4j store on its own server: that of the tests, with more memory.
import type { Driver } from 'neo4j-driver'
import { createNeo4jStore, installNeo4j, openDriver } from '../../../dist/store/neo4j/index.js'
import { startNeo4j } from '../../../test/external/neo4j/server/neo4j-server.ts'
import { type Measure, type Run, runMeasure } from '../../measure.ts'
import { meterOthers } from '../../processes/load-meter.ts'
import { describeMachine, packageVersions, versionOf } from '../../processes/machine.ts'
import type { Report } from '../../report/report.ts'
import type { MeasureResult } from '../../report/result.ts'
import type { SizeName, Sizes } from '../../sizes.ts'
import { neo4jGrowth } from './growth.ts'
import { neo4jWorkers } from './workers.ts'

const HEAP_MB = 1_024
const PAGE_CACHE_MB = 512

export interface Neo4jBench extends Run {
  driver: Driver
  sizes: Sizes['neo4j']
  /** A store with its own connections, as in a worker process. They are closed with the bench. */
  openStore(label: string): ReturnType<typeof createNeo4jStore>
  /** Creates constraints and indexes, and deletes all nodes. */
  prepare(label: string): Promise<void>
  close(): Promise<void>
}

export async function startNeo4jBench(options: Run & Pick<Neo4jBench, 'sizes'>): Promise<Neo4jBench> {
  const jars = process.env['UNSTUCK_BENCH_NEO4J_JARS']
  if (jars === undefined) throw new Error('start it with: npm run bench -- --store neo4j')
  const server = await startNeo4j({ jars, heapMb: HEAP_MB, pageCacheMb: PAGE_CACHE_MB, isOptimized: true })
  const { driver } = openDriver(server.url)
  const drivers = [driver]
  return {
    ...options,
    driver,
    openStore(label) {
      const own = openDriver(server.url).driver
      drivers.push(own)
      return createNeo4jStore({ driver: own, label })
    },
    async prepare(label) {
      await installNeo4j({ driver, label })
      await emptyLabel(driver, label)
    },
    async close() {
      await Promise.all(drivers.map((each) => each.close()))
      await server.stop()
    },
  }
}

async function emptyLabel(driver: Driver, label: string): Promise<void> {
  const session = driver.session()
  await session.run(
    `MATCH (n:${label}|${label}Event|${label}Bucket|${label}Record)
     CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS`,
  )
  await session.close()
}

export async function runOnNeo4j(bench: Neo4jBench, size: SizeName): Promise<Report> {
  const startedAtMs = performance.now()
  const othersCpu = meterOthers()
  const startedAt = `${new Date().toISOString().slice(0, 19)}Z`
  const { records } = await bench.driver.executeQuery(
    'CALL dbms.components() YIELD versions, edition RETURN versions[0] + " " + edition AS version',
  )
  const measures: Measure<Neo4jBench>[] = [neo4jWorkers, neo4jGrowth]
  const results: MeasureResult[] = []
  for (const measure of measures) results.push(await runMeasure(measure, bench))
  return {
    startedAt,
    tookS: (performance.now() - startedAtMs) / 1_000,
    size,
    repetitions: bench.repetitions,
    machine: describeMachine(),
    versions: {
      ...packageVersions([]),
      'neo4j-driver': versionOf('../node_modules/neo4j-driver/package.json'),
      Neo4j: String(records[0]?.get('version')),
    },
    serverName: 'Neo4j',
    serverSettings: `heap ${HEAP_MB} MB, page cache ${PAGE_CACHE_MB} MB, otherwise as it comes: every commit is on disk`,
    missing: {},
    othersCpu: othersCpu(),
    measures: results,
    goals: [],
  }
}
