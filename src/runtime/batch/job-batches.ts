// Gathers the jobs of a type for one call of their handler. Each of them is an attempt of its own, with its own slot, lease,
// signal, deadline and outcome; the handler of that attempt, below, only waits for what the batch decides about its job.
import type { ClaimedJob } from '../../job/lease.ts'
import type { Handler, HandlerBatches } from '../attempt/handler.ts'
import { type Timer, timing } from '../timing/timing.ts'
import type { BatchOptions } from './batch-handler.ts'
import { BatchMember } from './batch-member.ts'
import { type BatchWork, RunningBatch } from './running-batch.ts'

export interface JobBatchesOptions<Tx> extends BatchWork<Tx>, Pick<BatchOptions, 'size' | 'waitMs'> {}

export class JobBatches<Tx> implements HandlerBatches {
  readonly size: number
  readonly #options: JobBatchesOptions<Tx>
  #gathered: BatchMember<Tx>[] = []
  #timer: Timer | undefined
  readonly #batchOf = new WeakMap<ClaimedJob, RunningBatch<Tx>>()

  constructor(options: JobBatchesOptions<Tx>) {
    this.size = options.size
    this.#options = options
  }

  readonly handler: Handler<Tx> = (job, context) => {
    const member = new BatchMember(job, context)
    // The last chance of a job is not shared: a crash would count against the others (C25).
    if (job.runsAlone) this.#start([member])
    else this.#gather(member)
    return member.outcome
  }

  #gather(member: BatchMember<Tx>): void {
    this.#gathered.push(member)
    if (this.#gathered.length >= this.size) return this.begin()
    const { waitMs = 0 } = this.#options
    this.#timer ??= timing.setTimeout(() => this.begin(), waitMs)
    if (waitMs > 0) this.#endIfAborted(member)
  }

  /** While it waits for others, no handler has to be told and given time: it ends at once. */
  #endIfAborted(member: BatchMember<Tx>): void {
    const { signal } = member.context
    const end = () => {
      if (this.#removeGathered(member.job)) member.fail(signal.reason)
    }
    signal.addEventListener('abort', end, { once: true })
  }

  #removeGathered(job: ClaimedJob): boolean {
    const others = this.#gathered.filter((member) => member.job !== job)
    const isRemoved = others.length < this.#gathered.length
    this.#gathered = others
    // The next job has its whole wait.
    if (isRemoved && others.length === 0) {
      timing.clearTimeout(this.#timer)
      this.#timer = undefined
    }
    return isRemoved
  }

  begin(): void {
    timing.clearTimeout(this.#timer)
    this.#timer = undefined
    const members = this.#gathered
    this.#gathered = []
    if (members.length > 0) this.#start(members)
  }

  gatherOnly(start: () => void): void {
    const [others, timer] = [this.#gathered, this.#timer]
    this.#gathered = []
    this.#timer = undefined
    start()
    this.begin()
    this.#gathered = others
    this.#timer = timer
  }

  leave(job: ClaimedJob): Promise<unknown> | null {
    const batch = this.#batchOf.get(job)
    if (batch !== undefined) return batch.leave(job)
    this.#removeGathered(job)
    return null
  }

  #start(members: BatchMember<Tx>[]): void {
    const batch = new RunningBatch(members)
    for (const { job } of members) this.#batchOf.set(job, batch)
    batch.run(this.#options)
  }
}
