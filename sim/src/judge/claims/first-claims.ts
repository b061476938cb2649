// A worker sweeps before its first claim (WORK-2), and claims nothing that its heartbeat thread could not extend yet (LEASE-9).
import type { Route } from '../../database/call.ts'

interface Prepared {
  hasSwept: boolean
  hasHeart: boolean
  isJudged: boolean
}

export class FirstClaims {
  readonly #workers = new Map<string, Prepared>()
  readonly #onViolation: (message: string) => void

  constructor(onViolation: (message: string) => void) {
    this.#onViolation = onViolation
  }

  noteAnswer({ owner, kind }: Pick<Route, 'owner' | 'kind'>, verb: string): void {
    if (kind === 'heartbeat') this.#of(owner).hasHeart = true
    else if (verb === 'sweepJobs') this.#of(owner).hasSwept = true
  }

  /** It does not wait for a database that cannot be swept. */
  noteFailure(owner: string, verb: string): void {
    if (verb === 'sweepJobs') this.#of(owner).hasSwept = true
  }

  /** It has sent a claim. */
  noteClaim(worker: string): void {
    const prepared = this.#of(worker)
    if (prepared.isJudged) return
    prepared.isJudged = true
    if (!prepared.hasSwept) this.#onViolation(`${worker} claims before its first sweep`)
    if (!prepared.hasHeart) this.#onViolation(`${worker} claims before its heartbeats are ready`)
  }

  #of(worker: string): Prepared {
    const prepared = this.#workers.get(worker) ?? { hasSwept: false, hasHeart: false, isJudged: false }
    this.#workers.set(worker, prepared)
    return prepared
  }
}
