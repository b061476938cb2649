// A slot that becomes free is filled at once if jobs wait: polls are for jobs of which the worker does not know.
import type { History, LedgerLine, Violation } from '../../../../chaos/src/judge/history.ts'
import { isWithin } from '../../../../chaos/src/judge/history.ts'
import type { Circumstances, Run } from '../circumstances.ts'
import { waitsOf } from './pickups.ts'

/** A claim that found nothing more may have looked so long before. */
const SEEN_MS = 250
/** The claim waits for neighbours that end together, and takes a round trip. */
const CLAIM_MS = 500

export function* checkFreedSlots(
  run: Run,
  history: History,
  circumstances: Circumstances,
): Iterable<Violation> {
  const waits = waitsOf(run, history).filter(
    ({ from, to, isGated }) => !isGated && to - from > SEEN_MS + CLAIM_MS,
  )
  if (waits.length === 0) return
  const ends = history.ledger.filter(({ kind }) => kind === 'ended')
  for (const { jobId, from, to } of waits) {
    const end = ends.find(
      (line) =>
        line.at >= from + SEEN_MS && line.at + CLAIM_MS < to && hasFreed(line, { run, circumstances }),
    )
    if (end !== undefined)
      yield {
        invariant: 'freed slot',
        message: `job ${jobId}: due at ${from}, not claimed within ${CLAIM_MS} ms after a slot of ${end.worker} became free at ${end.at}`,
      }
  }
}

/** Whether the slot of this attempt could be filled, and was not. A worker that trusts hints waits for the next one. */
function hasFreed(
  { worker, at }: LedgerLine,
  { run, circumstances }: { run: Run; circumstances: Circumstances },
): boolean {
  const until = at + CLAIM_MS
  const hearsHints = run.evidence.hinted.get(worker)?.some((span) => isWithin(span, at, until)) === true
  // A claim that was under way in a blocked event loop fails first, and the next one is a poll.
  const isUnhindered = () => circumstances.isUnhindered(worker, at, until)
  // Later than the end of the attempt itself.
  return !hearsHints && circumstances.canClaim(worker, at + 1, until) && isUnhindered()
}
