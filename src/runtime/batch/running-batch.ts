import type { ClaimedJob } from '../../job/lease.ts'
import type { BatchContext, BatchedJob, BatchHandler } from './batch-handler.ts'
import type { BatchMember } from './batch-member.ts'

export interface BatchWork<Tx> {
  work: BatchHandler<Tx>
  /** The payload as the handler gets it. Throws or rejects if it does not fit the schema of the job. */
  readPayload: (job: ClaimedJob) => unknown
}

/** One call of the handler of a batch. */
export class RunningBatch<Tx> implements BatchContext {
  readonly #members: BatchMember<Tx>[]
  #working: Promise<void> = Promise.resolve()
  #controller: AbortController | undefined

  constructor(members: BatchMember<Tx>[]) {
    this.#members = members
  }

  run(options: BatchWork<Tx>): void {
    this.#working = this.#work(options).then(
      () => this.#endEach((member) => member.endReturned()),
      (error: unknown) => this.#endEach((member) => member.fail(error)),
    )
  }

  async #work({ work, readPayload }: BatchWork<Tx>): Promise<void> {
    const jobs = await Promise.all(this.#members.map((member) => this.#prepare(member, readPayload)))
    const ready = jobs.filter((job) => job !== null)
    if (ready.length > 0) await work(ready, this)
  }

  /** Null for a job that ended while the batch was gathered, or whose payload is not fit: the others go on without it. */
  async #prepare(
    member: BatchMember<Tx>,
    readPayload: BatchWork<Tx>['readPayload'],
  ): Promise<BatchedJob<Tx> | null> {
    const { job, context } = member
    try {
      context.signal.throwIfAborted()
      // Its progress limit begins only now, and holds for a schema that hangs too.
      context.progress()
      const payload = (await readPayload(job)) as ClaimedJob['payload']
      return member.isDone ? null : member.batchedJob(payload)
    } catch (error) {
      member.fail(error)
      return null
    }
  }

  #endEach(end: (member: BatchMember<Tx>) => void): void {
    for (const member of this.#members) end(member)
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      for (const member of this.#members) {
        member.onDone = () => this.#abortIfUseless()
        member.context.signal.addEventListener('abort', () => this.#abortIfUseless())
      }
      this.#abortIfUseless()
    }
    return this.#controller.signal
  }

  #abortIfUseless(): void {
    const left = this.#members.filter(({ isDone }) => !isDone)
    const isUseless = left.length > 0 && left.every(({ context }) => context.signal.aborted)
    if (isUseless) this.#controller?.abort(left[0]?.context.signal.reason)
  }

  /** The call, if it still runs and the attempt of no other job waits for it. */
  leave(job: ClaimedJob): Promise<void> | null {
    this.#members.find((member) => member.job === job)?.leave()
    return this.#members.every(({ isDone }) => isDone) ? this.#working : null
  }
}
