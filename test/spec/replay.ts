// Does in PostgreSQL what a step of the model did, and reads the rows back in the model's words.
import type pg from 'pg'
import type { PolicyOverride } from '../../src/policy/policy.ts'
import type { PostgresBench } from '../support/postgres-harness.ts'
import type { Replica } from '../support/replica.ts'
import type { ModelJob, ModelState } from './itf-trace.ts'

const HOUR = 3_600_000
/** Half a lease and a moment, so that what ends with a tick has ended after it. */
const TICK_MS = HOUR + 30_000

/** LEASE, BACKOFF, MAX_FAILURES and MAX_CRASHES of the model. */
const modelPolicy: PolicyOverride = {
  defaultLeaseMs: 2 * HOUR,
  reapBackoffStepsMs: [HOUR],
  failureBackoffStepsMs: [HOUR],
  failureBackoffJitterMs: 0,
  requeueRatePerS: 0,
  maxAttempts: 2,
  maxCrashes: 2,
  events: 'all',
}

export class Replay {
  readonly #pool: pg.Pool
  readonly #elapse: (ms: number) => Promise<void>
  readonly #replica: Replica
  /** By the model's numbers. */
  readonly #jobIds: string[]
  readonly #leaseIds = new Map<number, string>()

  private constructor(
    pool: pg.Pool,
    elapse: (ms: number) => Promise<void>,
    replica: Replica,
    jobIds: string[],
  ) {
    this.#pool = pool
    this.#elapse = elapse
    this.#replica = replica
    this.#jobIds = jobIds
  }

  static async start(bench: PostgresBench, replica: Replica): Promise<Replay> {
    const { store, elapse } = await bench.open()
    await store.writePolicy(modelPolicy)
    const jobs = await store.enqueueJobs([{ type: 'encode' }, { type: 'encode' }])
    await replica.catchUp()
    return new Replay(
      bench.database.pool,
      elapse,
      replica,
      jobs.map(({ jobId }) => jobId),
    )
  }

  /** Answers what the functions answered; the empty word where nobody is answered. */
  async take({ verb, worker, job, lease }: ModelState['lastStep']): Promise<string> {
    const id = this.#jobIds[job]
    const leaseId = this.#leaseIds.get(lease)
    switch (verb) {
      case 'claim':
        return this.#claim(id, worker, lease)
      case 'heartbeat':
        return this.#ask('select answer from unstuck.heartbeat_jobs(array[$1::uuid], array[$2::uuid])', [
          id,
          leaseId,
        ])
      case 'complete':
        return this.#ask(
          'select outcome as answer from unstuck.complete_jobs(array[$1::uuid], array[$2::uuid])',
          [id, leaseId],
        )
      case 'fail':
        return this.#ask('select outcome as answer from unstuck.fail_jobs(($1::text)::jsonb)', [
          JSON.stringify([{ id, lease_id: leaseId, reason: 'no answer' }]),
        ])
      case 'release':
        return this.#ask(
          'select outcome as answer from unstuck.release_jobs(array[$1::uuid], array[$2::uuid])',
          [id, leaseId],
        )
      case 'cancel':
        return this.#ask('select outcome as answer from unstuck.cancel_jobs(array[$1::uuid])', [id])
      case 'retry':
        return this.#ask('select outcome as answer from unstuck.retry_jobs(array[$1::uuid])', [id])
      default:
        await this.#disturb(verb)
        return ''
    }
  }

  async #claim(id: string | undefined, worker: string, lease: number): Promise<string> {
    const { rows } = await this.#pool.query('select lease_id from unstuck.claim_job($1, $2)', [id, worker])
    if (rows[0] === undefined) return 'not-claimable'
    this.#leaseIds.set(lease, rows[0].lease_id)
    return 'claimed'
  }

  async #ask(sql: string, values: unknown[]): Promise<string> {
    const { rows } = await this.#pool.query<{ answer: string }>(sql, values)
    return rows[0]?.answer ?? 'no answer'
  }

  async #disturb(verb: string): Promise<void> {
    if (verb === 'tick') await this.#pass(TICK_MS)
    else if (verb === 'reap') await this.#pool.query('select * from unstuck.reap_jobs()')
    else if (verb === 'replicate') await this.#replica.catchUp()
    else if (verb === 'failover') await this.#failOver()
    else if (verb !== 'init') throw new Error(`the model has a verb that the replay does not know: ${verb}`)
  }

  async #pass(ms: number): Promise<void> {
    await this.#elapse(ms)
    this.#replica.noteElapsed(ms)
  }

  async #failOver(): Promise<void> {
    const sinceMs = await this.#replica.promote()
    if (sinceMs > 0) await this.#elapse(sinceMs)
  }

  /** The rows as the model knows them; a lease id that the model did not grant has a number of its own. */
  async read(): Promise<ModelJob[]> {
    const { rows } = await this.#pool.query(
      `select status, worker_id, lease_id, fence::int, attempt, failures, crashes, generation,
              cancel_requested_at is not null as is_cancel_asked, finished_lease_id
         from unstuck.jobs order by array_position($1::uuid[], id)`,
      [this.#jobIds],
    )
    return rows.map((row) => ({
      status: row.status,
      worker: row.worker_id ?? '',
      lease: this.#numberOf(row.lease_id),
      fence: row.fence ?? 0,
      attempt: row.attempt,
      failures: row.failures ?? 0,
      crashes: row.crashes ?? 0,
      generation: row.generation,
      isCancelAsked: row.is_cancel_asked,
      finishedLease: this.#numberOf(row.finished_lease_id),
    }))
  }

  #numberOf(leaseId: string | null): number {
    if (leaseId === null) return 0
    return [...this.#leaseIds].find(([, known]) => known === leaseId)?.[0] ?? -1
  }
}
