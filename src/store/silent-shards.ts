// Shards that did not answer a read, for whoever asked: most answers are lists with no room for it.
import { AsyncLocalStorage } from 'node:async_hooks'

const asking = new AsyncLocalStorage<Set<string>>()

/** Runs `work`, and names the shards whose part is missing from what it read. */
export async function collectSilentShards<T>(
  work: () => Promise<T>,
): Promise<{ answer: T; silentShards: string[] }> {
  const silent = new Set<string>()
  const answer = await asking.run(silent, work)
  return { answer, silentShards: [...silent].toSorted() }
}

export function noteSilentShard(name: string): void {
  asking.getStore()?.add(name)
}
