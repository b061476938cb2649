// Installs and removes constraints and indexes, idempotently, and checks the server.
import type { Driver } from 'neo4j-driver'
import { UnstuckError } from '../../errors/index.ts'
import type { TableProfile } from '../../profile/profile.ts'
import { listCypher } from './graph/cypher-files.ts'
import { type Graph, openGraph } from './graph/graph.ts'
import { apocMissing, isOtherIndex } from './graph/neo4j-errors.ts'
import { namesOf } from './graph/node-names.ts'
import { adoptJobs } from './state/adopt-jobs.ts'

export interface InstallOptions {
  driver: Driver
  database?: string
  label?: string
  table?: TableProfile
}

/** Existing objects stay. */
export async function installNeo4j(options: InstallOptions): Promise<void> {
  const graph = graphOf(options)
  await checkServer(graph)
  for (const name of listCypher('up_')) await create(graph, name)
  await adoptJobs(graph)
}

/** An index of the application on `id` stays and serves the lookups, without the guarantee that ids are unique. */
async function create(graph: Graph, name: string): Promise<void> {
  try {
    await graph.call(name)
  } catch (error) {
    if (!(isOtherIndex(error) && name === 'up_01_job_id')) throw error
  }
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
  const rows = (await graph.call('list_schema')) as unknown as SchemaRow[]
  const wanted = listCypher('up_').flatMap((file) => {
    const statement = graph.names.statement(file)
    const [, name, label = ''] = MADE.exec(statement) ?? []
    const properties = [...statement.matchAll(PROPERTY)].map(
      ([, plain, quoted]) => plain ?? quoted?.replaceAll('``', '`'),
    )
    return name === undefined ? [] : [{ name, key: [label, ...properties].join() }]
  })
  // The application may have the same one under another name.
  const ready = new Set(
    rows
      .filter(({ state }) => state === 'ONLINE')
      .map(({ labelsOrTypes, properties }) => [...(labelsOrTypes ?? []), ...(properties ?? [])].join()),
  )
  const names = (isReady: boolean) =>
    wanted.filter(({ key }) => ready.has(key) === isReady).map(({ name }) => name)
  return { applied: names(true), pending: names(false) }
}

interface SchemaRow {
  state: string
  labelsOrTypes: string[] | null
  properties: string[] | null
}

const MADE = /^CREATE (?:CONSTRAINT|INDEX) (\w+) IF NOT EXISTS\s+FOR \(\w:(\w+)\)/m
const PROPERTY = /\b[a-z]\.(?:(\w+)|`((?:[^`]|``)+)`)/g

/** Throws if the server is too old or lacks APOC. */
export function checkNeo4j(options: InstallOptions): Promise<void> {
  return checkServer(graphOf(options))
}

function graphOf({ label, table, ...options }: InstallOptions): Graph {
  return openGraph({ ...options, names: namesOf(label, table) })
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
