// @ts-check
// Runs the suites of the Neo4j store on a real Neo4j with APOC, which Maven brings. Where Java or Maven is missing they are
// named as skipped, and the exit code says so.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SKIPPED = 77
const root = fileURLToPath(new URL('..', import.meta.url))
const jars = join(root, 'node_modules', '.cache', 'unstuck-neo4j')
const suites = readdirSync(join(root, 'test', 'neo4j')).filter((name) => name.endsWith('.test.ts'))

const missing = findMissing()
if (missing === null) run()
else {
  for (const suite of suites) console.log(`skipped: test/neo4j/${suite}: ${missing}`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
  process.exitCode = SKIPPED
}

function findMissing() {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const version = /version "(\d+)/.exec(java.stderr ?? '')?.[1]
  if (java.status !== 0 || version === undefined) return 'the program java is not on this machine'
  if (Number(version) < 17) return `Neo4j 5 needs Java 17, and this machine has ${version}`
  if (spawnSync('mvn', ['--version']).status !== 0) return 'the program mvn is not on this machine'
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const args = ['-q', '-B', '-f', 'test/neo4j/pom.xml', goal, `-DoutputDirectory=${jars}`]
  const maven = spawnSync('mvn', args, { cwd: root, encoding: 'utf8' })
  if (maven.status === 0) return null
  console.error(maven.stdout)
  return 'Maven could not bring Neo4j'
}

function run() {
  const args = ['vitest', 'run', '--config', 'test/neo4j/vitest.config.ts', ...process.argv.slice(2)]
  const env = { ...process.env, UNSTUCK_TEST_NEO4J_JARS: jars }
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
}
