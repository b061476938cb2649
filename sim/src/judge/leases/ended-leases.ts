import { type HeartbeatAnswer, type Lease, leaseKey } from '../../../../src/job/lease.ts'

/** More than the longest block of an event loop explains: until its end the thread cannot know. */
const MOST = 50

/** Counts answers to a worker that a lease is over: a thread that does not let go of them would extend them after a failover. */
export class EndedLeases {
  readonly #beats = new Map<string, number>()
  readonly #onKept: (message: string) => void

  constructor(onKept: (message: string) => void) {
    this.#onKept = onKept
  }

  noteAnswers(worker: string, answers: (Lease & { answer: HeartbeatAnswer })[]): void {
    for (const { jobId, leaseId, answer } of answers) {
      if (answer !== 'finished' && answer !== 'lost') continue
      const key = `${worker} ${leaseKey({ jobId, leaseId })}`
      const beats = (this.#beats.get(key) ?? 0) + 1
      this.#beats.set(key, beats)
      if (beats === MOST)
        this.#onKept(`job ${jobId}: ${worker} was told ${MOST} times that its lease is over`)
    }
  }
}
