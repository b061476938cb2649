// Dispatches of the PostgreSQL store: every verb is one call of a function. Nothing is decided here.
import type { DispatchStore, TakeDispatchesRequest, TakenDispatch } from '../../ports/dispatch-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { PostgresSchedules } from './schedules.ts'

export class PostgresDispatches extends PostgresSchedules implements DispatchStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    super(call)
    this.#call = call
  }

  async takeDispatches({ limit, leaseMs }: TakeDispatchesRequest = {}): Promise<TakenDispatch[]> {
    return (await this.#call('take_dispatches', [limit ?? 100, leaseMs ?? 30_000])).map(toTakenDispatch)
  }

  async finishDispatches(taken: TakenDispatch[]): Promise<number> {
    if (taken.length === 0) return 0
    const [row] = await this.#call('finish_dispatches', [jobIdsOf(taken), dispatchIdsOf(taken)])
    return Number(row?.['finished'])
  }

  async failDispatches(taken: TakenDispatch[], error: string): Promise<number> {
    if (taken.length === 0) return 0
    const tries = taken.map((one) => one.tries)
    // PostgreSQL stores neither NUL nor half of a surrogate pair.
    const text = error.toWellFormed().replaceAll('\0', '\uFFFD')
    const [row] = await this.#call('fail_dispatches', [jobIdsOf(taken), dispatchIdsOf(taken), tries, text])
    return Number(row?.['failed'])
  }

  async countDispatches(): Promise<number> {
    const [row] = await this.#call('count_dispatches', [])
    return Number(row?.['waiting'])
  }
}

const jobIdsOf = (taken: TakenDispatch[]) => taken.map(({ jobId }) => jobId)
const dispatchIdsOf = (taken: TakenDispatch[]) => taken.map(({ dispatchId }) => dispatchId)

function toTakenDispatch(row: Row): TakenDispatch {
  return {
    dispatchId: String(row['dispatch_id']),
    jobId: String(row['job_id']),
    type: String(row['type']),
    queue: String(row['queue']),
    runInMs: Number(row['run_in_ms']),
    attempt: Number(row['attempt']),
    tries: Number(row['tries']),
  }
}
