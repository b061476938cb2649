// The application: retries each enqueue until it is acknowledged. Connects directly, without a proxy.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './contender.ts'

const RETRY_MS = 500
const ANSWER_LIMIT_MS = 10_000

/** Resolves to the keys of the acknowledged jobs. */
export async function produceJobs({
  producer,
  jobs,
  signal,
}: {
  producer: Awaited<ReturnType<Contender['openProducer']>>
  jobs: { atMs: number; workMs: number }[]
  signal: AbortSignal
}): Promise<string[]> {
  const from = performance.now()
  const acknowledged: string[] = []
  for (const [index, { atMs, workMs }] of jobs.entries()) {
    await sleep(Math.max(0, atMs - (performance.now() - from)))
    // A job whose response was lost may exist, so the next try is another job.
    for (let tries = 0; !signal.aborted; tries++) {
      const key = `${index}.${tries}`
      if (await isAcknowledged(producer.add({ key, workMs }))) {
        acknowledged.push(key)
        break
      }
      await sleep(RETRY_MS)
    }
  }
  return acknowledged
}

function isAcknowledged(adding: Promise<unknown>) {
  return Promise.race([
    adding.then(
      () => true,
      () => false,
    ),
    sleep(ANSWER_LIMIT_MS, false, { ref: false }),
  ])
}
