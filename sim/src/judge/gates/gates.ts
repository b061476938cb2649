// What keeps due jobs from starting, and its judges: rate limits. Most runs have none.
import type { ClaimedJob } from '../../../../src/job/lease.ts'
import type { RateLimit, TokenGrant } from '../../../../src/policy/dependency/rate-limit.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Evidence } from '../../world/evidence.ts'
import { RateJudge } from './rates.ts'

export interface GateOptions {
  plan: Plan
  evidence: Evidence
}

export class Gates {
  readonly #rates: RateJudge | undefined

  constructor({ plan, evidence }: GateOptions) {
    const report = (invariant: string) => (message: string) =>
      void evidence.violations.push({ invariant, message })
    if (plan.rates !== undefined)
      this.#rates = new RateJudge({
        rates: plan.rates,
        failovers: () => evidence.failovers,
        onViolation: report('rate'),
      })
  }

  noteExecuted(verb: string, args: unknown[], answer: unknown, at: number): void {
    if (verb === 'takeTokens')
      this.#rates?.noteTaken(args[0] as RateLimit[], (answer as TokenGrant).granted, at)
  }

  noteAnswered(worker: string, verb: string, args: unknown[], answer: unknown, at: number): void {
    if (verb === 'takeTokens')
      this.#rates?.noteGranted(worker, args[0] as RateLimit[], (answer as TokenGrant).granted)
    if (verb === 'claimJobs') this.#rates?.noteClaimed(worker, answer as ClaimedJob[], at)
  }

  noteStart(worker: string, job: ClaimedJob): void {
    this.#rates?.noteStart(worker, job)
  }

  /** At the end of the run. */
  check(): void {
    this.#rates?.check()
  }

  /** When the gates of a job that waited opened for good; null if one may have been closed until the end. */
  openSince(job: Pick<ClaimedJob, 'owner' | 'type'>, from: number, to: number): number | null {
    if (this.#rates?.hadToken(job, from, to) === false) return null
    return from
  }

  /** Whether jobs of this type have any. */
  has(type: string): boolean {
    return this.#rates?.limits(type) === true
  }
}
