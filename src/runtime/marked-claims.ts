// Where the last claims got to, so that the next one starts there. Entries of jobs that were claimed stay in the index until a
// vacuum may take them away, and while somebody holds a transaction open it may not: a claim from the start would walk past
// all of them, and slow down with every job that was done. What a mark passes over, such as a job retried by hand or one whose
// transaction committed late, is found by the next look at everything.
import type { ClaimedJob } from '../job/lease.ts'
import type { ClaimCursors } from '../store/job-store.ts'

/** Between two looks at everything, in a busy worker. */
const LOOK_MS = 1_000
/** Where nothing was found from the marks on, the rest is looked at sooner. */
const EMPTY_LOOK_MS = 250

type Marks = Map<string, Map<number, Date>>

export class MarkedClaims {
  #marks: Marks = new Map()
  #lookedAtMs = Number.NEGATIVE_INFINITY

  /** Jobs as `claim` finds them with the marks; with none of them now and then. */
  async claim(claim: (marks: ClaimCursors) => Promise<ClaimedJob[]>): Promise<ClaimedJob[]> {
    if (this.#isOlderThan(LOOK_MS)) this.#forget()
    const isMarked = this.#marks.size > 0
    const jobs = await this.#claimFrom(this.#marks, claim)
    if (jobs.length > 0 || !isMarked || !this.#isOlderThan(EMPTY_LOOK_MS)) return jobs
    this.#forget()
    return this.#claimFrom(this.#marks, claim)
  }

  /** Another claim may begin a look at everything meanwhile: what this one got to is no mark for that. */
  async #claimFrom(
    marks: Marks,
    claim: (marks: ClaimCursors) => Promise<ClaimedJob[]>,
  ): Promise<ClaimedJob[]> {
    const jobs = await claim(marks)
    note(marks, jobs)
    return jobs
  }

  #isOlderThan(ms: number): boolean {
    return performance.now() - this.#lookedAtMs > ms
  }

  #forget(): void {
    this.#marks = new Map()
    this.#lookedAtMs = performance.now()
  }
}

/** A job is due when it was created, or later: its creation is a mark that passes over nothing that is due after it. */
function note(marks: Marks, jobs: ClaimedJob[]): void {
  for (const { queue, priority, createdAt } of jobs) {
    const times = marks.get(queue) ?? new Map<number, Date>()
    marks.set(queue, times)
    const known = times.get(priority)
    if (known === undefined || known < createdAt) times.set(priority, createdAt)
  }
}
