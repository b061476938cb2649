import { invalidArgument } from '../../../errors/index.ts'
import { jsonText } from '../../../job/json-text.ts'
import type {
  AbortedOperation,
  BegunOperation,
  NewOperation,
  Operation,
  OperationAction,
  OperationEnds,
  OperationJob,
  OperationPhase,
  OperationState,
  OperationStore,
} from '../../ports/operation-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { filterFields } from '../rows/filter-json.ts'
import { date, dateOrNull, fieldsOf, fromRecord, numberOrNull, storable, text } from '../rows/values.ts'

const LEASE_MS = 30_000
const PAGE = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function bindOperationVerbs(call: CallQuery): OperationStore {
  const callOne: CallOne = async (name, params) => {
    const [row] = await call(name, params)
    return (row?.['answer'] ?? null) as Row | null
  }
  return { ...bindRuns(call, callOne), ...bindLists(call, callOne) }
}

type CallOne = (name: string, params: unknown[]) => Promise<Row | null>
type Lists = Pick<
  OperationStore,
  'readOperation' | 'listOperations' | 'listOperationJobs' | 'countOperationEnds'
>

function bindRuns(call: CallQuery, callOne: CallOne): Omit<OperationStore, keyof Lists> {
  return {
    async beginOperation(request) {
      const answer = (await callOne('begin_operation', [operationToJson(request)])) ?? {}
      const outcome = answer['outcome'] as BegunOperation['outcome']
      const total = Number(answer['total'])
      if (outcome === 'planned')
        return { outcome, total, asOf: date(answer['as_of']), atLeast: fieldsOf(answer['at_least']) }
      if (outcome !== 'begun') return { outcome, total }
      const operation = toOperation(answer['operation'] as Row)
      return { outcome, total, operation, leaseId: text(answer['lease_id']) }
    },

    async takeOperation({ leaseMs = LEASE_MS } = {}) {
      const answer = await callOne('take_operation', [leaseMs])
      if (answer === null) return null
      return { operation: toOperation(answer['operation'] as Row), leaseId: String(answer['lease_id']) }
    },

    async stepOperation({ operationId, leaseId }, { limit, phase, leaseMs = LEASE_MS, sourceGone = [] }) {
      const params = [operationId, leaseId, limit, phase ?? null, leaseMs, sourceGone]
      const answer = await callOne('step_operation', params)
      if (answer === null) return 'lease-lost'
      return { operation: toOperation(answer['operation'] as Row), sample: Number(answer['sample']) }
    },

    async giveBackOperation({ operationId, leaseId }) {
      const [row] = await call('give_back_operation', [operationId, leaseId])
      return row?.['is_given_back'] === true
    },

    async endOperation({ operationId, leaseId }, { state, stopped }) {
      const reason = stopped === undefined ? null : storable(stopped)
      const operation = await callOne('end_operation', [operationId, leaseId, state, reason])
      return operation === null ? 'lease-lost' : toOperation(operation)
    },

    async abortOperation(operationId, { owner, actor } = {}) {
      const params = [operationId, owner ?? null, actor ?? null]
      const answer = (await callOne('abort_operation', params)) ?? {}
      const operation = (answer['operation'] ?? null) as Row | null
      return {
        outcome: answer['outcome'] as AbortedOperation['outcome'],
        operation: operation === null ? null : toOperation(operation),
      }
    },
  }
}

function bindLists(call: CallQuery, callOne: CallOne): Lists {
  return {
    async readOperation(operationId, { owner } = {}) {
      const operation = await callOne('read_operation', [operationId, owner ?? null])
      return operation === null ? null : toOperation(operation)
    },

    async listOperations({ owner, limit = PAGE, cursor } = {}) {
      if (cursor !== undefined && !UUID.test(cursor))
        throw invalidArgument('cursor', cursor, 'the id of an operation')
      const rows = await call('list_operations', [owner ?? null, cursor ?? null, limit])
      const operations = rows.map((row) => toOperation(row['answer'] as Row))
      return { operations, next: operations.length < limit ? null : (operations.at(-1)?.id ?? null) }
    },

    async countOperationEnds(operationId) {
      if (!UUID.test(operationId)) return noEnds
      return fromRecord<OperationEnds>((await callOne('count_operation_ends', [operationId])) ?? {}, [])
    },

    async listOperationJobs(operationId, { limit = PAGE, cursor = 0 } = {}) {
      if (!UUID.test(operationId)) return { jobs: [], next: null }
      const rows = await call('list_changed_jobs', [operationId, cursor, limit])
      const jobs = rows.map((row) => ({
        jobId: String(row['job_id']),
        position: Number(row['place']),
        outcome: text(row['outcome']),
        status: String(row['status']) as OperationJob['status'],
      }))
      return { jobs, next: jobs.length < limit ? null : (jobs.at(-1)?.position ?? null) }
    },
  }
}

const noEnds: OperationEnds = {
  waiting: 0,
  running: 0,
  succeeded: 0,
  dead: 0,
  cancelled: 0,
  deleted: 0,
  isComplete: true,
}

function operationToJson(request: NewOperation): string {
  const { action, filter, q, asOf, limit, expect, actor, owner, reason } = request
  return jsonText('operation', {
    action,
    filter: filterFields(filter),
    q,
    as_of: asOf?.toISOString(),
    max_jobs: limit,
    expect,
    actor,
    owner,
    reason,
    canary: request.canary,
    rate_per_s: request.ratePerS,
    keep_attempts: request.keepAttempts,
    lease_ms: request.leaseMs,
    is_plan: request.isPlan,
    count_limit: request.countLimit,
  })
}

function toOperation(row: Row): Operation {
  const filter = row['filter'] as { cause_id?: string }
  return {
    id: String(row['id']),
    action: row['action'] as OperationAction,
    q: String(row['q']),
    causeId: filter.cause_id ?? null,
    asOf: date(row['as_of']),
    actor: text(row['actor']),
    reason: text(row['reason']),
    canary: Number(row['canary']),
    ratePerS: numberOrNull(row['rate_per_s']),
    keepAttempts: row['keep_attempts'] === true,
    queues: row['queues'] as string[],
    state: row['state'] as OperationState,
    phase: row['phase'] as OperationPhase | null,
    phaseMs: numberOrNull(row['phase_ms']),
    total: Number(row['total']),
    changed: Number(row['changed']),
    refused: Number(row['refused']),
    succeeded: Number(row['succeeded']),
    failed: Number(row['failed']),
    stopped: text(row['stopped']),
    beganAt: date(row['began_at']),
    endedAt: dateOrNull(row['ended_at']),
  }
}
