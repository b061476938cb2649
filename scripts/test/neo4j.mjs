// @ts-check
// Runs the suites of the Neo4j store on a real Neo4j with APOC; `--quick` runs a smoke. Without Java or Maven they are reported
// as skipped, with an exit code of their own.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bringNeo4j, jars, SKIPPED } from './neo4j-jars.mjs'
import { isSmoke, smokeEnvironment, vitestArguments } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = readdirSync(join(root, 'test', 'external', 'neo4j')).filter((name) =>
  name.endsWith('.test.ts'),
)

const missing = bringNeo4j()
if (missing === null) run()
else {
  for (const suite of suites) console.log(`skipped: test/external/neo4j/${suite}: ${missing}`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
  process.exitCode = SKIPPED
}

function run() {
  const args = vitestArguments('test/external/neo4j/vitest.config.ts', [
    'test/external/neo4j/document-002.test.ts',
    'test/external/neo4j/race.test.ts',
    'test/external/neo4j/pending.test.ts',
  ])
  const backlog = isSmoke ? { UNSTUCK_TEST_PENDING: '20000' } : {}
  const env = { ...backlog, ...process.env, ...smokeEnvironment, UNSTUCK_TEST_NEO4J_JARS: jars }
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
}
