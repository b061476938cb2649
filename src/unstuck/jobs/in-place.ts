// `drain` and `runOnce`: jobs and handlers run in the caller's process, for tests.
import type { PgClient } from '../../compose/index.ts'
import { invalidArgument } from '../../errors/index.ts'
import type { JsonValue } from '../../job/job.ts'
import type { Tracing } from '../../observe/tracing.ts'
import { withOverride } from '../../policy/policy.ts'
import { type DrainOptions, type DrainReport, drainJobs } from '../../runtime/in-place/drain.ts'
import { type RunOnceOptions, runHandlerOnce } from '../../runtime/in-place/run-once.ts'
import type { DeclaredJob } from '../../runtime/services/scheduler.ts'
import { workerName } from '../../runtime/worker/process-name.ts'
import type { PolicyOption } from '../../store/job-store.ts'
import { type ApplicationParts, DEFAULT_HANG_GRACE_MS, dependencyOptions } from '../start/start-worker.ts'

export interface DrainedParts extends ApplicationParts {
  schedules: DeclaredJob[]
  enqueuePolicy: PolicyOption
  tracing: Tracing | null
}

export async function drainApplication(parts: DrainedParts, options?: DrainOptions): Promise<DrainReport> {
  const { open, config, handlers, events, schedules, tracing } = parts
  if (handlers.length === 0)
    throw invalidArgument('handlers', 'none', 'at least one type: handle(type, handler)')
  await open.checkSchema?.()
  const { store, transaction } = open
  const { heartbeatMs } = withOverride(await store.readPolicy(), config.policy)
  const { workerId, hangGraceMs = DEFAULT_HANG_GRACE_MS, txTimeoutMs = 60_000 } = parts.options
  return drainJobs(
    {
      store,
      transaction,
      tableName: parts.table.table,
      workerId: workerName(workerId),
      handlers,
      events,
      schedules,
      tracing,
      gateway: { baseUrl: config.gateway.url, timeoutMs: config.gateway.timeoutMs },
      dependencies: dependencyOptions(parts),
      queues: parts.options.queues,
      policy: config.policy,
      enqueuePolicy: parts.enqueuePolicy.policy,
      heartbeatMs,
      hangGraceMs,
      txTimeoutMs,
    },
    options,
  )
}

export function runOnceOf(
  { open, config, handlers }: Pick<ApplicationParts, 'open' | 'config' | 'handlers'>,
  type: string,
  payload: unknown,
  options?: RunOnceOptions,
): Promise<JsonValue | undefined> {
  const registered = handlers.find((candidate) => candidate.type === type)
  if (registered === undefined) {
    const types = handlers.map((handler) => handler.type).join(', ') || 'none yet'
    throw invalidArgument('type', type, `a type with a handler: ${types}`)
  }
  return runHandlerOnce<PgClient>(
    {
      handler: registered.handler,
      batches: registered.batches,
      gateway: { baseUrl: config.gateway.url, timeoutMs: config.gateway.timeoutMs },
      transaction: open.transaction,
    },
    type,
    payload,
    options,
  )
}
