// Installs and removes constraints and indexes, idempotently, and checks the server.
import type { Driver } from 'neo4j-driver'
import { UnstuckError } from '../../errors/index.ts'
import { checkLabel, DEFAULT_LABEL, listCypher, readCypher } from './graph/cypher-files.ts'
import { type Graph, openGraph } from './graph/graph.ts'
import { apocMissing } from './graph/neo4j-errors.ts'

export interface InstallOptions {
  driver: Driver
  database?: string
  label?: string
}

/** Existing objects stay. */
export async function installNeo4j(options: InstallOptions): Promise<void> {
  const graph = graphOf(options)
  await checkServer(graph)
  for (const name of listCypher('up_')) await graph.call(name)
  await graph.write((run) => run('fill_jobs'))
}

/** Keeps the job nodes with the application's properties; removes events and all other nodes of unstuck. */
export async function removeNeo4j(options: InstallOptions): Promise<void> {
  const graph = graphOf(options)
  for (const name of listCypher('down_')) await graph.call(name)
}

export interface Neo4jStatus {
  applied: string[]
  /** Constraints and indexes that are missing or not ready. */
  pending: string[]
}

export async function readNeo4jStatus(options: InstallOptions): Promise<Neo4jStatus> {
  const graph = graphOf(options)
  await checkServer(graph)
  const rows = await graph.call('list_schema')
  const ready = new Set(rows.filter(({ state }) => state === 'ONLINE').map(({ name }) => String(name)))
  const names = listCypher('up_').flatMap((file) => {
    const [, name] = MADE.exec(readCypher(file, graph.label)) ?? []
    return name === undefined ? [] : [name]
  })
  return {
    applied: names.filter((name) => ready.has(name)),
    pending: names.filter((name) => !ready.has(name)),
  }
}

const MADE = /^CREATE (?:CONSTRAINT|INDEX) (\w+) /m

/** Throws if the server is too old or lacks APOC. */
export function checkNeo4j(options: InstallOptions): Promise<void> {
  return checkServer(graphOf(options))
}

function graphOf({ label = DEFAULT_LABEL, ...options }: InstallOptions): Graph {
  checkLabel(label)
  return openGraph({ ...options, label })
}

async function checkServer(graph: Graph): Promise<void> {
  const [server] = await graph.call('check_server')
  requireVersion(String(server?.['version']))
  const [apoc] = await graph.call('check_apoc')
  if (Number(apoc?.['found']) === 0) throw apocMissing()
}

/** Versions are 4.4.x, 5.x, and since 2025 year and month. */
export function requireVersion(version: string): void {
  if (Number.parseInt(version, 10) >= 5) return
  throw new UnstuckError(
    'NOT_SUPPORTED',
    `the server is Neo4j ${version}, and 5 is the oldest that will do`,
    {
      details: { version },
      hint: 'Upgrade it to Neo4j 5.',
    },
  )
}
