// @ts-check
// Downloads Neo4j with APOC through Maven, for tests and the benchmark.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Exit code of a command whose requirements are missing. */
export const SKIPPED = 77

export const jars = join(root, 'node_modules', '.cache', 'unstuck-neo4j')

/**
 * Downloads them into `jars`.
 * @returns {string | null} why it failed, or null
 */
export function bringNeo4j() {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const version = /version "(\d+)/.exec(java.stderr ?? '')?.[1]
  if (java.status !== 0 || version === undefined) return 'the program java is not installed'
  if (Number(version) < 17) return `Neo4j 5 needs Java 17, and this machine has ${version}`
  if (spawnSync('mvn', ['--version']).status !== 0) return 'the program mvn is not installed'
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const args = ['-q', '-B', '-f', 'test/neo4j/pom.xml', goal, `-DoutputDirectory=${jars}`]
  const maven = spawnSync('mvn', args, { cwd: root, encoding: 'utf8' })
  if (maven.status === 0) return null
  console.error(maven.stdout)
  return 'Maven could not download Neo4j'
}
