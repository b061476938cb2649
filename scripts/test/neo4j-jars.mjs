// @ts-check
// Downloads Neo4j with APOC through Maven, for tests and the benchmark.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Exit code of a command whose requirements are missing. */
export const SKIPPED = 77

export const jars = join(root, 'node_modules', '.cache', 'unstuck-neo4j')
const pom = join(root, 'test', 'external', 'neo4j', 'server', 'pom.xml')
/** The pom.xml that `jars` was filled by. */
const filledBy = join(jars, 'pom.xml')

/**
 * Downloads them into `jars`, unless they are there.
 * @returns {string | null} why it failed, or null
 */
export function bringNeo4j() {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const version = /version "(\d+)/.exec(java.stderr ?? '')?.[1]
  if (java.status !== 0 || version === undefined) return 'the program java is not installed'
  if (Number(version) < 17) return `Neo4j 5 needs Java 17, and this machine has ${version}`
  if (existsSync(filledBy) && readFileSync(filledBy, 'utf8') === readFileSync(pom, 'utf8')) return null
  if (spawnSync('mvn', ['--version']).status !== 0) return 'the program mvn is not installed'
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const args = ['-q', '-B', '-f', pom, goal, `-DoutputDirectory=${jars}`]
  const maven = spawnSync('mvn', args, { cwd: root, encoding: 'utf8' })
  if (maven.status !== 0) {
    console.error(maven.stdout)
    return 'Maven could not download Neo4j'
  }
  writeFileSync(filledBy, readFileSync(pom))
  return null
}
