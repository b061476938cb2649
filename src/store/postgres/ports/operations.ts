// Operations of the PostgreSQL store: every verb is one call of a function. Nothing is decided here.
import { invalidArgument } from '../../../errors/index.ts'
import { jsonText } from '../../../job/json-text.ts'
import type {
  AbortedOperation,
  AbortOptions,
  BegunOperation,
  HeldOperation,
  ListOperationJobsOptions,
  ListOperationsOptions,
  NewOperation,
  Operation,
  OperationAction,
  OperationEnd,
  OperationJobPage,
  OperationLease,
  OperationPage,
  OperationPhase,
  OperationProgress,
  OperationState,
  OperationStep,
  OperationStore,
} from '../../ports/operation-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { filterFields } from '../rows/filter-json.ts'
import { PostgresWebhooks } from './webhooks.ts'

const LEASE_MS = 30_000
const PAGE = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export class PostgresOperations extends PostgresWebhooks implements OperationStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    super(call)
    this.#call = call
  }

  async beginOperation(request: NewOperation): Promise<BegunOperation> {
    const [row] = await this.#call('begin_operation', [operationToJson(request)])
    const answer = row?.['answer'] as Row
    const outcome = answer['outcome'] as BegunOperation['outcome']
    const total = Number(answer['total'])
    if (outcome === 'planned') return { outcome, total, asOf: date(answer['as_of']) }
    if (outcome !== 'begun') return { outcome, total }
    const operation = toOperation(answer['operation'] as Row)
    return { outcome, total, operation, leaseId: text(answer['lease_id']) }
  }

  async takeOperation({ leaseMs = LEASE_MS }: { leaseMs?: number } = {}): Promise<HeldOperation | null> {
    const [row] = await this.#call('take_operation', [leaseMs])
    const answer = (row?.['answer'] ?? null) as Row | null
    if (answer === null) return null
    return { operation: toOperation(answer['operation'] as Row), leaseId: String(answer['lease_id']) }
  }

  async stepOperation(
    { operationId, leaseId }: OperationLease,
    { limit, phase, leaseMs = LEASE_MS }: OperationStep,
  ): Promise<OperationProgress | 'lease-lost'> {
    const params = [operationId, leaseId, limit, phase ?? null, leaseMs]
    const [row] = await this.#call('step_operation', params)
    const answer = (row?.['answer'] ?? null) as Row | null
    if (answer === null) return 'lease-lost'
    return { operation: toOperation(answer['operation'] as Row), sample: Number(answer['sample']) }
  }

  async giveBackOperation({ operationId, leaseId }: OperationLease): Promise<boolean> {
    const [row] = await this.#call('give_back_operation', [operationId, leaseId])
    return row?.['is_given_back'] === true
  }

  async endOperation(
    { operationId, leaseId }: OperationLease,
    { state, stopped }: OperationEnd,
  ): Promise<Operation | 'lease-lost'> {
    // PostgreSQL stores neither NUL nor half of a surrogate pair.
    const why = stopped?.toWellFormed().replaceAll('\0', '\uFFFD') ?? null
    const [row] = await this.#call('end_operation', [operationId, leaseId, state, why])
    const operation = (row?.['operation'] ?? null) as Row | null
    return operation === null ? 'lease-lost' : toOperation(operation)
  }

  async abortOperation(operationId: string, options: AbortOptions = {}): Promise<AbortedOperation> {
    const { owner, actor } = options
    const [row] = await this.#call('abort_operation', [operationId, owner ?? null, actor ?? null])
    const answer = row?.['answer'] as Row
    const operation = (answer['operation'] ?? null) as Row | null
    return {
      outcome: answer['outcome'] as AbortedOperation['outcome'],
      operation: operation === null ? null : toOperation(operation),
    }
  }

  async readOperation(operationId: string, { owner }: { owner?: string } = {}): Promise<Operation | null> {
    const [row] = await this.#call('read_operation', [operationId, owner ?? null])
    return row === undefined ? null : toOperation(row['operation'] as Row)
  }

  async listOperations({ owner, limit = PAGE, cursor }: ListOperationsOptions = {}): Promise<OperationPage> {
    if (cursor !== undefined && !UUID.test(cursor))
      throw invalidArgument('cursor', cursor, 'the id of an operation')
    const rows = await this.#call('list_operations', [owner ?? null, cursor ?? null, limit])
    const operations = rows.map((row) => toOperation(row['operation'] as Row))
    return { operations, next: operations.length < limit ? null : (operations.at(-1)?.id ?? null) }
  }

  async listOperationJobs(
    operationId: string,
    { limit = PAGE, cursor = 0 }: ListOperationJobsOptions = {},
  ): Promise<OperationJobPage> {
    if (!UUID.test(operationId)) return { jobs: [], next: null }
    const rows = await this.#call('list_operation_jobs', [operationId, cursor, limit])
    const jobs = rows.map((row) => ({
      jobId: String(row['job_id']),
      position: Number(row['place']),
      outcome: text(row['outcome']),
    }))
    return { jobs, next: jobs.length < limit ? null : (jobs.at(-1)?.position ?? null) }
  }
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
  })
}

const text = (value: unknown) => (value ?? null) as string | null
const numberOrNull = (value: unknown) => (value === null ? null : Number(value))
const date = (value: unknown) => new Date(String(value))

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
    endedAt: row['ended_at'] === null ? null : date(row['ended_at']),
  }
}
