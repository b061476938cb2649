// Seeds over several threads. Each has a heap and clocks of its own; outcomes come in the order of seeds, as if from one.
import { once } from 'node:events'
import { parentPort, Worker } from 'node:worker_threads'
import { runHere, type SeedOutcome } from './run-seeds.ts'

/** Seeds that a thread runs before it asks for more. */
const PART = 20

interface Part {
  from: number
  seeds: number
}

/** `entry`: a module that calls `serveSeeds` if it is loaded in a thread. */
export function runInThreads(count: number, entry: URL) {
  return async function* (from: number, seeds: number): AsyncGenerator<SeedOutcome> {
    const parts = partsOf(from, seeds)
    const outcomes = new Map<Part, Promise<SeedOutcome[]>>()
    const threads = Array.from({ length: count }, () => new Worker(entry))
    let next = 0
    const start = (thread: Worker): void => {
      const part = parts[next++]
      if (part === undefined) return
      const answer = answerOf(thread, part)
      outcomes.set(part, answer)
      // A thread that failed ends the run where its part is awaited.
      answer.then(
        () => start(thread),
        () => {},
      )
    }
    for (const thread of threads) start(thread)
    try {
      for (const part of parts) {
        yield* (await outcomes.get(part)) ?? []
        outcomes.delete(part)
      }
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()))
    }
  }
}

/** In a thread: runs the parts that it is sent. */
export function serveSeeds(): void {
  parentPort?.on('message', (part: Part) => void servePart(part))
}

async function servePart({ from, seeds }: Part): Promise<void> {
  const outcomes: SeedOutcome[] = []
  for await (const outcome of runHere(from, seeds)) outcomes.push(outcome)
  parentPort?.postMessage(outcomes)
}

function partsOf(from: number, seeds: number): Part[] {
  return Array.from({ length: Math.ceil(seeds / PART) }, (_, nth) => ({
    from: from + nth * PART,
    seeds: Math.min(PART, seeds - nth * PART),
  }))
}

/** `once` takes its listeners back: a thread answers thousands of times. */
async function answerOf(thread: Worker, part: Part): Promise<SeedOutcome[]> {
  thread.postMessage(part)
  const [outcomes] = (await once(thread, 'message')) as [SeedOutcome[]]
  return outcomes
}
