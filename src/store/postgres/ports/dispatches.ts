import type { DispatchStore, TakenDispatch } from '../../ports/dispatch-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { storable } from '../rows/values.ts'

export function bindDispatchVerbs(call: CallQuery): DispatchStore {
  return {
    async takeDispatches({ limit, leaseMs } = {}) {
      return (await call('take_dispatches', [limit ?? 100, leaseMs ?? 30_000])).map(toTakenDispatch)
    },

    async finishDispatches(taken) {
      if (taken.length === 0) return 0
      const [row] = await call('finish_dispatches', idsOf(taken))
      return Number(row?.['finished'])
    },

    async failDispatches(taken, error) {
      if (taken.length === 0) return 0
      const tries = taken.map((dispatch) => dispatch.tries)
      const [row] = await call('fail_dispatches', [...idsOf(taken), tries, storable(error)])
      return Number(row?.['failed'])
    },

    async countDispatches() {
      const [row] = await call('count_dispatches', [])
      return Number(row?.['waiting'])
    },
  }
}

function idsOf(taken: TakenDispatch[]): [jobIds: string[], dispatchIds: string[]] {
  return [taken.map(({ jobId }) => jobId), taken.map(({ dispatchId }) => dispatchId)]
}

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
