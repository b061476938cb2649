// Queues whose limits, or those of their groups, held jobs back from the last claim. A place becomes free when the result of a
// job is written, not when its handler returns: that is when the worker claims again.

export class HeldBack {
  #queues: ReadonlySet<string> = new Set()
  /** The same of the claim in flight. */
  #met: Set<string> | undefined
  /** Queues of results that were written since the claim began: it may have counted their jobs as running. */
  #freed = new Set<string>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  has(queue: string): boolean {
    return this.#queues.has(queue)
  }

  beginClaim(): void {
    this.#met = new Set()
    this.#freed = new Set()
  }

  /** Part of the claim's answer. */
  readonly note = (queues: string[]): void => {
    for (const queue of queues) this.#met?.add(queue)
  }

  /** Returns whether a place has become free meanwhile. */
  endClaim(): boolean {
    this.#queues = this.#met ?? new Set()
    this.#met = undefined
    return [...this.#queues].some((queue) => this.#freed.has(queue))
  }

  /** A result was written. Returns whether a job may wait for its place; while a claim is in flight, its end tells. */
  free(queue: string): boolean {
    this.#freed.add(queue)
    return this.#met === undefined && this.#queues.has(queue)
  }
}
