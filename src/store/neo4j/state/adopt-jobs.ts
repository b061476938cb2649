// Adopts nodes that the application created itself. An adopted node has a second label, so whether any is left is read from the
// count store, however many nodes there are (ADR 0036).
import type { Graph } from '../graph/graph.ts'
import { toInteger } from './job-node.ts'
import type { NodeNotice } from './node-notice.ts'

const CHUNK = 10_000
/** A sweep has other work: the next one goes on. */
const SWEEP_BUDGET_MS = 5_000
/** The counts are also equal if as many nodes lost the label as were created, so sweeps look at the nodes now and then. */
const LOOK_EVERY_MS = 600_000

/** Adopts all nodes, in batches with their own transactions. Resolves to their number. */
export async function adoptJobs(graph: Graph, budgetMs = Number.POSITIVE_INFINITY): Promise<number> {
  const limit = toInteger(CHUNK)
  const until = performance.now() + budgetMs
  let adopted = 0
  for (let count = CHUNK; count === CHUNK && performance.now() < until; adopted += count)
    count = await countOf(graph, 'adopt_jobs', 'adopted', { limit })
  return adopted
}

export interface Adoption {
  /** For sweeps: costs nothing to speak of if there is no node to adopt. */
  adopt(): Promise<void>
  /** For sweeps in mode observe: changes no node. */
  observe(): Promise<void>
}

export function createAdoption(graph: Graph, onNotice: (notice: NodeNotice) => void): Adoption {
  const noticed = new Set<string>()
  let lookAtMs = Number.NEGATIVE_INFINITY
  let observed = 0
  const countUnknown = () => countOf(graph, 'count_unknown', 'unknown')
  const look = async () => {
    lookAtMs = performance.now() + LOOK_EVERY_MS
    for (const reason of await describeOddNodes(graph)) {
      if (!noticed.has(reason)) onNotice({ table: graph.names.label, jobId: null, reason })
      noticed.add(reason)
    }
  }
  return {
    async adopt() {
      if ((await countUnknown()) === 0 && performance.now() < lookAtMs) return
      await adoptJobs(graph, SWEEP_BUDGET_MS)
      await look()
      for (const forget of ['forget_strays', 'forget_stated'])
        await graph.call(forget, { limit: toInteger(CHUNK) })
    },
    async observe() {
      const unknown = await countUnknown()
      if (unknown === observed && performance.now() < lookAtMs) return
      observed = unknown
      await look()
    },
  }
}

/** Nodes that the profile does not explain; `doctor` lists more. */
async function describeOddNodes(graph: Graph): Promise<string[]> {
  const words = (await listOtherWords(graph)).map(
    ({ word }) =>
      `has nodes with the status '${word}', which the profile does not define: they are never claimed or reaped`,
  )
  const numbers = await countNumericIds(graph)
  const { jobs, ids } = await findWithoutStatus(graph)
  return [
    ...words,
    ...(jobs === 0
      ? []
      : [`has nodes without a status: they are never claimed or reaped. For example ${ids.join(', ')}`]),
    ...(numbers === 0
      ? []
      : ['has nodes with a number as id: they are never claimed. Map id to another property in the profile']),
  ]
}

const LAST_TEXT = '\uffff'

/** Status words that the profile does not define, by how many nodes have them. */
export async function listOtherWords(graph: Graph): Promise<{ word: string; jobs: number }[]> {
  const known = ['', ...graph.names.words.toSorted(), LAST_TEXT]
  const gaps = known.slice(1).map((before, place) => ({ after: known[place], before }))
  const rows = await graph.call('list_other_words', { gaps })
  return rows.map((row) => ({ word: row['word'] as string, jobs: Number(row['jobs']) }))
}

/** The first of them, and their number up to 20,000. */
export async function findWithoutStatus(graph: Graph): Promise<{ jobs: number; ids: string[] }> {
  const [row] = await graph.call('find_without_status')
  return { jobs: Number(row?.['jobs']), ids: (row?.['ids'] ?? []) as string[] }
}

export function countNumericIds(graph: Graph): Promise<number> {
  return countOf(graph, 'count_numeric_ids', 'jobs')
}

async function countOf(
  graph: Graph,
  name: string,
  column: string,
  parameters: { [name: string]: unknown } = {},
): Promise<number> {
  const [row] = await graph.call(name, parameters)
  return Number(row?.[column])
}
