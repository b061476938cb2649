// `tx`: the caller's writes and the completion in one transaction. The lease is extended first and the job's heartbeats pause,
// so that unstuck does not write its row while the transaction is open: REPEATABLE READ callers get no 40001 from us (C4).
import { invalidArgument, isUnstuckError, UnstuckError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { AnswerListener } from '../heartbeat/heartbeat.ts'
import { timing } from '../timing/timing.ts'
import { wait } from '../timing/wait.ts'
import type { AttemptDependencies } from './attempt-dependencies.ts'
import type { CompleteInTx } from './handler.ts'
import { completionOf, leaseLost } from './outcome.ts'

export interface TransactionOwner extends AnswerListener {
  readonly job: ClaimedJob
  readonly signal: AbortSignal
  readonly isAtRisk: boolean
  readonly hasEnded: boolean
  /** Lease of the job's current stage. */
  readonly leaseMs: number
  /** The lease now lasts this long from now. */
  noteExtended(leaseMs: number): void
}

/** Runs a transaction that completes the job of its owner. */
export type CompleteIn<Tx, T> = (owner: TransactionOwner, deps: AttemptDependencies<Tx>) => Promise<T>

/** Upper bound of the wait for a connection and its `begin`. */
const LONGEST_BEGIN_MS = 30_000
/** Margin until heartbeats resume after the transaction; a main thread that was blocked for longer extends again. */
const MARGIN_MS = 10_000
const CONFLICT_RETRIES = 5

export async function completeInTransaction<Tx, T>(
  owner: TransactionOwner,
  { store, policy, heartbeat, transaction, txTimeoutMs }: AttemptDependencies<Tx>,
  work: (client: Tx) => Promise<T>,
): Promise<T> {
  const { job } = owner
  const beginWithinMs = Math.min(txTimeoutMs, LONGEST_BEGIN_MS)
  const workAndComplete = async (client: Tx) => {
    const value = await work(client)
    const [completed] = await store.completeJobs([completionOf(job, value)], { tx: client, policy })
    if (completed?.outcome !== 'completed') throw leaseLost(job)
    return value
  }
  for (let retry = 1; ; retry++) {
    try {
      await extendLease(owner, heartbeat, beginWithinMs + txTimeoutMs)
      return await transaction(workAndComplete, { beginWithinMs, jobId: job.jobId })
    } catch (error) {
      if (!owner.hasEnded) heartbeat.hold(job, owner)
      // SERIALIZABLE also aborts transactions that did not conflict: run a rolled-back one again (C12).
      const isRepeatable = isUnstuckError(error, 'DATABASE_CONFLICT') && retry <= CONFLICT_RETRIES
      if (!isRepeatable || owner.signal.aborted) throw error
      await wait(20 * 2 ** retry * timing.random(), owner.signal)
    }
  }
}

/** `work` opens the transaction in the caller's own client, which also decides whether a conflict is repeated. */
export async function completeInOwnTransaction<Tx, T>(
  owner: TransactionOwner,
  { store, policy, heartbeat, txTimeoutMs }: AttemptDependencies<Tx>,
  work: (complete: CompleteInTx) => Promise<T>,
): Promise<T> {
  const { job } = owner
  const own = { isComplete: false, isOver: false }
  const complete: CompleteInTx = async (tx, result) => {
    if (own.isOver) throw tookTooLong(txTimeoutMs)
    const completion = completionOf(job, result)
    const [completed] = await store.completeJobs([completion], { tx: tx as Tx, policy })
    // A client may run its transaction again after a conflict; each run completes the job in a transaction of its own.
    if (completed?.outcome !== 'completed') throw leaseLost(job)
    own.isComplete = true
    return result as typeof result & object
  }
  await extendLease(owner, heartbeat, txTimeoutMs)
  const limit = new AbortController()
  try {
    const overdue = wait(txTimeoutMs, limit.signal).then(() => {
      // The lease covers no more: a completion that comes later must not be tried.
      own.isOver = true
      throw tookTooLong(txTimeoutMs)
    })
    overdue.catch(() => {})
    const value = await Promise.race([work(complete), overdue])
    if (!own.isComplete)
      throw invalidArgument(
        'ownTx',
        'a transaction without a completion',
        'complete(tx, result) as its last step',
      )
    return value
  } catch (error) {
    own.isOver = true
    if (!owner.hasEnded) heartbeat.hold(job, owner)
    throw error
  } finally {
    limit.abort()
  }
}

function tookTooLong(timeoutMs: number): UnstuckError {
  return new UnstuckError('DATABASE_TIMEOUT', `the transaction took longer than ${timeoutMs} ms`, {
    details: { timeoutMs },
    hint: 'Do the slow part before the transaction, or raise txTimeoutMs.',
  })
}

/**
 * Extends the lease before `begin`, over the heartbeat connection: transactions that hold every connection of a pooler would
 * wait for one more, and a snapshot taken before the extension could not complete the job (C27).
 */
async function extendLease(
  owner: TransactionOwner,
  heartbeat: AttemptDependencies['heartbeat'],
  neededMs: number,
): Promise<void> {
  const { job } = owner
  const leaseMs = Math.max(neededMs + MARGIN_MS, owner.leaseMs)
  for (;;) {
    const { answer, sentAtMs } = await heartbeat.handOver(job, leaseMs)
    owner.onAnswer(answer, sentAtMs)
    const leftMs = leaseMs - (timing.epochMs() - sentAtMs)
    if (answer === 'kept' && leftMs >= neededMs) return owner.noteExtended(leftMs)
    if (answer === 'kept') continue
    owner.signal.throwIfAborted()
    // A row that is locked for a moment is no reason to fail (C4).
    if (answer !== 'busy' || owner.isAtRisk) throw leaseLost(job)
    await wait(20 + timing.random() * 80, owner.signal)
  }
}
