// Reads what doctor checks, without writing. Read errors are recorded and the rest goes on.
import { isUnstuckError } from '../../errors/index.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../job-store.ts'
import type { GraphFacts, LabelFacts, NodeFacts, OddNodes } from '../ports/graph-facts.ts'
import { type Graph, openGraph } from './graph/graph.ts'
import { namesOf } from './graph/node-names.ts'
import { type InstallOptions, readNeo4jStatus } from './install.ts'
import { countNumericIds, findWithoutStatus, listOtherWords } from './state/adopt-jobs.ts'
import { describeOddTimes } from './state/job-node.ts'

const SHOWN_IDS = 5

type Attempt = <T>(what: string, read: () => Promise<T>) => Promise<T | null>

export async function readGraphFacts(
  options: InstallOptions,
  store: JobStore,
  override: PolicyOverride,
): Promise<GraphFacts> {
  const graph = openGraph({ ...options, names: namesOf(options.label, options.table) })
  const unreadable: GraphFacts['unreadable'] = []
  const attempt: Attempt = async (what, read) => {
    try {
      return await read()
    } catch (error) {
      if (isUnstuckError(error, 'DATABASE_UNREACHABLE') || isUnstuckError(error, 'PERMISSION_DENIED'))
        throw error
      const hint = isUnstuckError(error) && error.hint !== undefined ? `. ${error.hint}` : ''
      unreadable.push({ what, reason: `${error instanceof Error ? error.message : String(error)}${hint}` })
      return null
    }
  }
  return {
    server: await readServer(graph),
    schema: await attempt('constraints and indexes', () => readNeo4jStatus(options)),
    breakers: await attempt('breakers', () => store.listBreakers()),
    table: await readTable(graph, store, override, attempt),
    nodes: await attempt('nodes', () => readNodes(graph)),
    unreadable,
  }
}

async function readServer(graph: Graph): Promise<GraphFacts['server']> {
  // The first query also pays for the connection and the plan.
  await graph.call('read_server')
  const sentAt = Date.now()
  const startedAt = performance.now()
  const [row] = await graph.call('read_server')
  const roundTripMs = performance.now() - startedAt
  const clockSkewMs = Number(row?.['now']) - (sentAt + roundTripMs / 2)
  return { version: String(row?.['version']), clockSkewMs, roundTripMs }
}

async function readTable(
  graph: Graph,
  store: JobStore,
  override: PolicyOverride,
  attempt: Attempt,
): Promise<LabelFacts> {
  return {
    name: graph.names.label,
    override,
    stored: await attempt('policy', () => store.readPolicy()),
    health: await attempt('health', () => store.readHealth({ policy: override })),
    mode: await attempt('mode', async () => (await store.readMode()).mode),
    longOverdue: await attempt('overdue jobs', async () => {
      const { jobs } = await store.listStaleJobs()
      const overdue = jobs.filter(({ isPastTwiceLease }) => isPastTwiceLease)
      const ids = overdue.slice(0, SHOWN_IDS).map(({ jobId }) => jobId)
      return { jobs: overdue.length, ids, oldestMs: null }
    }),
    unknownWords: await attempt('status words', () => listOtherWords(graph)),
  }
}

async function readNodes(graph: Graph): Promise<NodeFacts> {
  const [[unknown], numericIds, withoutStatus, running, indexes] = await Promise.all([
    graph.call('count_unknown'),
    countNumericIds(graph),
    findWithoutStatus(graph),
    graph.call('list_running'),
    graph.call('list_schema'),
  ])
  return {
    unknown: Number(unknown?.['unknown']),
    numericIds,
    withoutStatus,
    oddNodes: oddNodes(running.map((row) => row['job'] as { [name: string]: unknown })),
    hasUniqueIds: indexes.some(
      ({ labelsOrTypes, properties, owningConstraint }) =>
        String(labelsOrTypes) === graph.names.label &&
        String(properties) === graph.names.property('id') &&
        owningConstraint !== null,
    ),
  }
}

function oddNodes(nodes: { [name: string]: unknown }[]): OddNodes[] {
  const found = new Map<string, string[]>()
  for (const node of nodes)
    for (const reason of describeOddTimes(node))
      found.set(reason, [...(found.get(reason) ?? []), String(node['id'])])
  return [...found].map(([reason, ids]) => ({ reason, jobs: ids.length, ids: ids.slice(0, SHOWN_IDS) }))
}
