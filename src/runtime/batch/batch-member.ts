import type { ClaimedJob } from '../../job/lease.ts'
import type { JobContext } from '../attempt/handler.ts'
import { releaseErrorOf } from '../attempt/release-request.ts'
import type { BatchedJob } from './batch-handler.ts'

/** An attempt as its batch sees it. */
export class BatchMember<Tx> {
  readonly job: ClaimedJob
  readonly context: JobContext<Tx>
  /** Settles with the outcome: the handler of the attempt returns it. */
  readonly outcome: Promise<unknown>
  /** An outcome is decided, or the attempt no longer waits for one. */
  isDone = false
  onDone: () => void = () => {}
  #resolve: (result: unknown) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(job: ClaimedJob, context: JobContext<Tx>) {
    this.job = job
    this.context = context
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** With the payload as the handler gets it. */
  batchedJob(payload: ClaimedJob['payload']): BatchedJob<Tx> {
    return {
      ...this.job,
      payload,
      context: this.context,
      complete: (result) => this.complete(result),
      fail: (error) => this.fail(error),
      release: (request) => this.fail(releaseErrorOf(request)),
    }
  }

  complete(result?: unknown): void {
    this.#end(() => this.#resolve(result))
  }

  fail(error: unknown): void {
    this.#end(() => this.#reject(error))
  }

  /** The handler returned. It may have skipped an aborted job, so only an outcome of its own says that such a job succeeded. */
  endReturned(): void {
    const { signal } = this.context
    if (signal.aborted) this.fail(signal.reason)
    else this.complete()
  }

  /** The attempt was given up. */
  leave(): void {
    this.#end(() => {})
  }

  #end(settle: () => void): void {
    if (this.isDone) return
    this.isDone = true
    settle()
    this.onDone()
  }
}
