// Where PostgreSQL and the model are known to differ, each kept out of the runs here and nowhere else. A rule goes away
// with its difference.
import type { Model } from './two-sides.ts'

/**
 * K4: one job twice in a call to cancel or retry. PostgreSQL answers both alike, the memory store the second one from
 * what the first has done. Nothing else differs, so the runs ask about each job once.
 */
export function eachOnce(indexes: number[]): number[] {
  return [...new Set(indexes)]
}

/** K5: which of the jobs without budget a sweep ends first where its limit does not take all: by queue, or by id. */
export async function limitForAllExhausted(
  model: Model,
  limit: number | undefined,
): Promise<number | undefined> {
  return limit !== undefined && (await countExhausted(model)) > limit ? undefined : limit
}

async function countExhausted({ store }: Model): Promise<number> {
  const preview = await store.previewSweep()
  return preview.filter(({ reason }) => reason === 'attempts_exhausted').length
}
