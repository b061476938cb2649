import type { ClaimedJob } from '../../job/lease.ts'
import { spawnChild } from '../child/spawn-child.ts'
import type { Gateway } from '../limits/gateway.ts'
import type { JobContext } from './handler.ts'
import { type CompleteIn, completeInOwnTransaction, completeInTransaction } from './job-transaction.ts'
import { releaseJob } from './release-request.ts'

/** The parts of an attempt that its handler's context exposes. */
export interface ContextSource<Tx> {
  readonly job: ClaimedJob
  /** Created on first use: short jobs seldom need it. */
  readonly signal: AbortSignal
  readonly gateway: Gateway
  readonly isAtRisk: boolean
  noteProgress(value?: number, text?: string): void
  enterStage(name: string): Promise<void>
  completeIn<T>(transaction: CompleteIn<Tx, T>): Promise<T>
}

export function createJobContext<Tx>(attempt: ContextSource<Tx>): JobContext<Tx> {
  return new HandlerContext(attempt)
}

class HandlerContext<Tx> implements JobContext<Tx> {
  /**
   * An own property, so that a spread copy of the context has it. One shared getter: an object literal with a getter creates
   * a hidden class per object, which cost 2 µs per job.
   */
  static readonly #ownSignal = {
    enumerable: true,
    get(this: HandlerContext<unknown>) {
      return this.#attempt.signal
    },
  }

  readonly #attempt: ContextSource<Tx>
  declare readonly signal: AbortSignal
  readonly fence: number
  readonly isAtRisk: () => boolean
  readonly progress: JobContext<Tx>['progress']
  readonly stage: JobContext<Tx>['stage']
  readonly spawn: JobContext<Tx>['spawn']
  readonly gateway: Gateway
  readonly release: JobContext<Tx>['release']
  readonly tx: JobContext<Tx>['tx']
  readonly ownTx: JobContext<Tx>['ownTx']

  constructor(attempt: ContextSource<Tx>) {
    this.#attempt = attempt
    Object.defineProperty(this, 'signal', HandlerContext.#ownSignal)
    this.fence = attempt.job.fence
    this.isAtRisk = () => attempt.isAtRisk
    this.progress = (value, text) => attempt.noteProgress(value, text)
    this.stage = (name) => attempt.enterStage(name)
    this.spawn = (command, args, options) => spawnChild(command, args, { ...options, signal: attempt.signal })
    this.gateway = (pathOrUrl, init) => attempt.gateway(pathOrUrl, init)
    this.release = releaseJob
    this.tx = (work) => attempt.completeIn((owner, deps) => completeInTransaction(owner, deps, work))
    this.ownTx = (work) => attempt.completeIn((owner, deps) => completeInOwnTransaction(owner, deps, work))
  }
}
