// A reaper whose sweeps failed, while no other got through, has met an outage (C9): sweeps hold what expired in it. Here by the
// calls that failed, and not by what the reaper says of itself.

/** Calls by which a process learns that the server does not answer: its sweeps, and its reports while it stands by. */
const verbs: readonly string[] = ['sweepJobs', 'reportWorker']
const LONG_MS = 5_000

interface ReachedSweep {
  sentAtMs: number
  nowMs: number
  isFirst: boolean
}

export class FailedSweeps {
  readonly #leaseMs: number
  readonly #onOutage: (fromMs: number, toMs: number) => void
  /** By process and verb: the first call that failed since one was answered. */
  readonly #failingSince = new Map<string, number>()
  #reached: { owner: string; atMs: number } | undefined

  constructor(leaseMs: number, onOutage: (fromMs: number, toMs: number) => void) {
    this.#leaseMs = leaseMs
    this.#onOutage = onOutage
  }

  noteFailure(owner: string, verb: string, nowMs: number): void {
    if (!verbs.includes(verb)) return
    const key = `${owner} ${verb}`
    if (!this.#failingSince.has(key)) this.#failingSince.set(key, nowMs)
  }

  noteAnswer(owner: string, verb: string): void {
    if (this.#failingSince.size === 0 || !verbs.includes(verb)) return
    this.#failingSince.delete(`${owner} ${verb}`)
    if (verb === 'sweepJobs') this.#failingSince.delete(`${owner} reportWorker`)
  }

  /** Another process has its name now, and knows nothing of its failures. */
  forget(owner: string): void {
    for (const verb of verbs) this.#failingSince.delete(`${owner} ${verb}`)
  }

  /** A sweep that was no redundant one reached the server. The first one of a process says nothing about its network. */
  noteSweep(owner: string, { sentAtMs, nowMs, isFirst }: ReachedSweep): void {
    const sinceMs = Math.min(...verbs.map((verb) => this.#failingSince.get(`${owner} ${verb}`) ?? nowMs))
    const reached = this.#reached
    if (!isFirst) this.#reached = { owner, atMs: nowMs }
    // So long on its way, it looks like a step of the clock.
    if (nowMs - sentAtMs > LONG_MS) return this.#onOutage(sentAtMs, nowMs)
    if (sinceMs === nowMs) return
    const isAnother = reached !== undefined && reached.owner !== owner && reached.atMs > sinceMs
    // No lease that is renewed in time ends within half a lease: the network of this reaper was the problem.
    if (isAnother && nowMs - reached.atMs <= this.#leaseMs / 2) return
    this.#onOutage(Math.max(sinceMs, reached?.atMs ?? 0), nowMs)
  }
}
