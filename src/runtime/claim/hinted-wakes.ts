// When an idle worker acts on a hint. As many workers as there are jobs claim at once; the others take turns and look first
// whether a job is left, so that a worker that has died or is busy costs 50 ms and not a poll.
import {
  type FleetGroup,
  hashText,
  hintForAll,
  type JobHint,
  wakeTurnMs,
} from '../../policy/wake/wake-turn.ts'
import { TimedWakes } from '../timing/timed-wakes.ts'
import { timing } from '../timing/timing.ts'

export interface HintedWakesOptions {
  workerId: string
  /** Queues that this worker claims from. */
  queues: readonly string[]
  /** Claims now, if a slot is free. */
  claim: () => void
  hasFreeSlot: () => boolean
  hasDueJobs: (queues: string[]) => Promise<boolean>
}

/** Workers with a free slot that hints reach, as the store reports them. */
export interface HintedWorkers {
  queues: string[]
  workerIds: string[]
}

/** After this time without a report, the fleet counts as unknown: three intervals of reports. */
const FLEET_MS = 45_000
/** A fleet that finds nothing looks at most a hundred times a second, and a worker of it at most five. */
const PAUSE_PER_WORKER_MS = 10
const LEAST_PAUSE_MS = 200

export class HintedWakes {
  readonly #options: HintedWakesOptions
  readonly #ownHash: number
  readonly #queues: ReadonlySet<string>
  readonly #claims: TimedWakes
  readonly #looks: TimedWakes
  #fleet: FleetGroup[] = []
  #fleetSize = 0
  #knownAtMs = Number.NEGATIVE_INFINITY
  #restsUntilMs = 0

  constructor(options: HintedWakesOptions) {
    this.#options = options
    this.#ownHash = hashText(options.workerId)
    this.#queues = new Set(options.queues)
    this.#claims = new TimedWakes(() => options.claim())
    this.#looks = new TimedWakes(() => void this.#look(), { slotMs: 10, marginMs: 0 })
  }

  meet(workers: HintedWorkers[]): void {
    this.#fleet = workers.map(({ queues, workerIds }) => ({ queues, hashes: workerIds.map(hashText) }))
    this.#fleetSize = workers.reduce((sum, { workerIds }) => sum + workerIds.length, 0)
    this.#knownAtMs = timing.nowMs()
  }

  hear(hint: JobHint = hintForAll()): void {
    const { queue, dueInMs } = hint
    if (queue !== null && !this.#queues.has(queue)) return
    const isKnown = timing.nowMs() - this.#knownAtMs <= FLEET_MS
    const turnMs = wakeTurnMs(hint, this.#ownHash, isKnown ? this.#fleet : [])
    if (turnMs === null) return
    if (turnMs > 0) this.#looks.add(dueInMs + turnMs)
    else if (dueInMs > 0) this.#claims.add(dueInMs)
    else this.#options.claim()
  }

  /** No wake follows. */
  clear(): void {
    this.#claims.clear()
    this.#looks.clear()
  }

  async #look(): Promise<void> {
    const { hasFreeSlot, hasDueJobs, claim } = this.#options
    if (!hasFreeSlot()) return
    const restsForMs = this.#restsUntilMs - timing.nowMs()
    if (restsForMs > 0) return this.#looks.add(restsForMs)
    const restMs = Math.max(LEAST_PAUSE_MS, PAUSE_PER_WORKER_MS * this.#fleetSize)
    this.#restsUntilMs = timing.nowMs() + restMs
    // If the store does not answer, the claim reports it.
    if (await hasDueJobs([...this.#queues]).catch(() => true)) {
      this.#restsUntilMs = 0
      claim()
    }
  }
}
