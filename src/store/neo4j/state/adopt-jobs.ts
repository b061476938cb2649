// Adopts nodes that the application created itself. An adopted node has a second label, so whether any is left is read from the
// count store, however many nodes there are (ADR 0036).
import type { Graph } from '../graph/graph.ts'
import { toInteger } from './job-node.ts'

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

/** For sweeps: costs nothing to speak of if there is no node to adopt. */
export function createAdoption(graph: Graph, onNotice: (message: string) => void): () => Promise<void> {
  const noticed = new Set<string>()
  let lookAtMs = Number.NEGATIVE_INFINITY
  return async () => {
    const unknown = await countOf(graph, 'count_unknown', 'unknown')
    if (unknown === 0 && performance.now() < lookAtMs) return
    lookAtMs = performance.now() + LOOK_EVERY_MS
    await adoptJobs(graph, SWEEP_BUDGET_MS)
    for (const notice of await describeOddNodes(graph)) {
      if (!noticed.has(notice)) onNotice(notice)
      noticed.add(notice)
    }
    await graph.call('forget_strays', { limit: toInteger(CHUNK) })
  }
}

/** Nodes that the profile does not explain; `doctor` lists more. */
async function describeOddNodes(graph: Graph): Promise<string[]> {
  const { label } = graph.names
  const words = (await listOtherWords(graph)).map(
    ({ word }) =>
      `${label} has nodes with the status '${word}', which the profile does not define: they are never claimed`,
  )
  const numbers = await countNumericIds(graph)
  if (numbers === 0) return words
  return [
    ...words,
    `${label} has nodes with a number as id: they are never claimed. Map id to another property in the profile`,
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
