// Runs verbs of the memory store over the graph.
import type { MemoryState } from '../../memory/state/memory-state.ts'
import type { Graph, Run } from '../graph/graph.ts'
import { type PartContext, type PartRequest, readPart } from './state-part.ts'
import { writePart } from './write-part.ts'

type Requested = PartRequest | ((run: Run) => Promise<PartRequest>)
type Verb<T> = (state: MemoryState, run: Run) => T | Promise<T>

export interface VerbRunner {
  readonly graph: Graph
  readonly context: PartContext
  /** Locks, runs the verb, writes what it changed. */
  readonly change: <T>(request: Requested, verb: Verb<T>) => Promise<T>
  /** Neither locks nor writes. */
  readonly look: <T>(request: Requested, verb: Verb<T>) => Promise<T>
}

export function createVerbRunner(graph: Graph, context: PartContext): VerbRunner {
  const read = async (run: Run, request: Requested) =>
    readPart(run, context, typeof request === 'function' ? await request(run) : request)
  return {
    graph,
    context,
    change: (request, verb) =>
      graph.write(async (run) => {
        const part = await read(run, request)
        const answer = await verb(part.state, run)
        await writePart(run, part)
        return answer
      }),
    look: (request, verb) => graph.read(async (run) => verb((await read(run, request)).state, run)),
  }
}
