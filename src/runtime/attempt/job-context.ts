import type { ClaimedJob } from '../../job/lease.ts'
import { spawnChild } from '../child/spawn-child.ts'
import type { Gateway } from '../limits/gateway.ts'
import type { JobContext } from './handler.ts'
import { releaseJob } from './release-request.ts'

/** What an attempt does for its handler. */
export interface ContextSource<Tx> {
  readonly job: ClaimedJob
  /** Made when a handler asks for it: a short job seldom does. */
  readonly signal: AbortSignal
  readonly gateway: Gateway
  readonly isAtRisk: boolean
  noteProgress(): void
  enterStage(name: string): Promise<void>
  completeInTx: JobContext<Tx>['tx']
}

export function createJobContext<Tx>(attempt: ContextSource<Tx>): JobContext<Tx> {
  return new HandlerContext(attempt)
}

class HandlerContext<Tx> implements JobContext<Tx> {
  /**
   * A property of the object, so that a copy of the context has it; with one getter for all of them: a literal with a getter
   * makes a shape for each object, and took 2 µs of every job.
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
  readonly progress: () => void
  readonly stage: JobContext<Tx>['stage']
  readonly spawn: JobContext<Tx>['spawn']
  readonly gateway: Gateway
  readonly release: JobContext<Tx>['release']
  readonly tx: JobContext<Tx>['tx']

  constructor(attempt: ContextSource<Tx>) {
    this.#attempt = attempt
    Object.defineProperty(this, 'signal', HandlerContext.#ownSignal)
    this.fence = attempt.job.fence
    this.isAtRisk = () => attempt.isAtRisk
    this.progress = () => attempt.noteProgress()
    this.stage = (name) => attempt.enterStage(name)
    this.spawn = (command, args, options) => spawnChild(command, args, { ...options, signal: attempt.signal })
    this.gateway = (pathOrUrl, init) => attempt.gateway(pathOrUrl, init)
    this.release = releaseJob
    this.tx = (work) => attempt.completeInTx(work)
  }
}
