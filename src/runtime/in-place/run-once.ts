// Calls one handler in the caller's process, without a job in the store.
import type { JsonValue } from '../../job/job.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { Handler, HandlerBatches, JobContext } from '../attempt/handler.ts'
import { createJobContext } from '../attempt/job-context.ts'
import { progressOf } from '../attempt/reported-progress.ts'
import { createGateway, type GatewayOptions } from '../limits/gateway.ts'
import { timing } from '../timing/timing.ts'

/** Fields of the job that the handler gets, if their value matters, and its signal. */
export interface RunOnceOptions extends Partial<Omit<ClaimedJob, 'type' | 'payload'>> {
  signal?: AbortSignal
}

export interface RunOnceParts<Tx> {
  handler: Handler<Tx>
  batches?: HandlerBatches | undefined
  gateway: GatewayOptions
  /** Commits the writes of `tx`; there is no job to complete. */
  transaction: <T>(work: (client: Tx) => Promise<T>) => Promise<T>
}

/** The payload and the result are what JSON makes of them, as in the store. A failure is thrown as the handler threw it. */
export async function runHandlerOnce<Tx>(
  { handler, batches, gateway, transaction }: RunOnceParts<Tx>,
  type: string,
  payload: unknown = {},
  { signal = new AbortController().signal, ...fields }: RunOnceOptions = {},
): Promise<JsonValue | undefined> {
  const job: ClaimedJob = { ...newClaimedJob(type), ...fields, payload: throughJson('payload', payload) }
  const call = createGateway(gateway)
  const withoutTx = createJobContext<Tx>({
    job,
    signal,
    isAtRisk: false,
    gateway: (pathOrUrl, init) =>
      call(pathOrUrl, {
        ...init,
        signal: init?.signal == null ? signal : AbortSignal.any([signal, init.signal]),
      }),
    noteProgress: (value, text) => void progressOf(value, text),
    enterStage: async () => signal.throwIfAborted(),
    completeIn: () => Promise.reject(new Error('there is no job to complete')),
  })
  const context: JobContext<Tx> = {
    ...withoutTx,
    tx: transaction,
    ownTx: (work) => work(async (_tx, result) => result as never),
  }
  let handling: unknown
  const start = () => {
    handling = handler(job, context)
  }
  if (batches === undefined) start()
  else batches.gatherOnly(start)
  const result = await handling
  return result === undefined ? undefined : throughJson('result', result)
}

function throughJson(name: string, value: unknown): JsonValue {
  return JSON.parse(jsonText(name, value)) as JsonValue
}

function newClaimedJob(type: string): Omit<ClaimedJob, 'payload'> {
  const now = new Date(timing.wallMs())
  return {
    jobId: timing.randomUUID(),
    leaseId: timing.randomUUID(),
    type,
    queue: type,
    priority: 0,
    stage: type,
    owner: null,
    fence: 1,
    attempt: 1,
    failures: 0,
    crashes: 0,
    timeouts: 0,
    maxAttempts: 3,
    generation: 1,
    createdAt: now,
    startedAt: now,
    expectedDurationMs: null,
    leaseMs: 60_000,
    deadlineMs: null,
    traceparent: null,
    waitedMs: 0,
    isRescue: false,
    runsAlone: false,
  }
}
