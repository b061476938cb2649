// Starts a worker from configuration and options.

import type { HeartbeatThreadData } from '../../compose/heartbeat-thread.ts'
import type { OpenShard, OpenTable, PgClient } from '../../compose/index.ts'
import { type Config, profileOf } from '../../config/index.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { Tracing } from '../../observe/tracing.ts'
import type { Policy } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { RegisteredHandler } from '../../runtime/attempt/handler.ts'
import {
  type Heartbeat,
  type HeartbeatEvents,
  startMainHeartbeat,
} from '../../runtime/heartbeat/heartbeat.ts'
import { joinHeartbeats, type ShardedHeartbeat } from '../../runtime/heartbeat/sharded-heartbeat.ts'
import { startThreadHeartbeat } from '../../runtime/heartbeat/thread-heartbeat.ts'
import {
  type DependencyOptions,
  prepareDependencies,
  prepareQueues,
} from '../../runtime/limits/dependencies.ts'
import { processKey, workerName } from '../../runtime/worker/process-name.ts'
import { startWorker, type Worker } from '../../runtime/worker/worker.ts'
import type { UnstuckOptions } from '../options.ts'
import { assertClaimable } from './assert-claimable.ts'
import type { StartLimit } from './start-limit.ts'

export interface ApplicationParts {
  open: OpenTable
  /** Undefined for a single database. */
  shards?: OpenShard[] | undefined
  config: Config
  options: UnstuckOptions
  table: TableProfile
  events: RuntimeEventEmitter
  handlers: RegisteredHandler<PgClient>[]
}

export interface StartedParts extends ApplicationParts {
  /** For heartbeats: handlers may use all connections of a pooler. Null: they run on the main thread. */
  directUrl: string | null
  /** The stored policy with this process's overrides. */
  policy: Policy
  tracing: Tracing | null
  limit: StartLimit
}

export const DEFAULT_HANG_GRACE_MS = 5_000

export async function startApplicationWorker(parts: StartedParts): Promise<Worker> {
  const { open, config, options, table, events, handlers, policy, tracing } = parts
  assertClaimable(table)
  // Connects while the breakers are prepared.
  const workerId = workerName(options.workerId)
  const sharded = startShardHeartbeats(parts, workerId)
  const heartbeat = sharded ?? startHeartbeat(parts, workerId)
  const dependencies = await untilReady(
    heartbeat,
    parts.limit.retry(async () => {
      await prepareQueues(open.store, options.queues)
      return prepareDependencies(open.store, handlers, dependencyOptions(parts))
    }),
    parts.limit,
  )
  return startWorker({
    store: open.store,
    tableName: table.table,
    workerId,
    handlers,
    heartbeat,
    presenceOf: sharded?.presenceOf,
    events,
    transaction: open.transaction,
    gateway: { baseUrl: config.gateway.url, timeoutMs: config.gateway.timeoutMs },
    tracing,
    dependencies,
    policy: config.policy,
    concurrency: options.concurrency ?? config.workerConcurrency,
    sweepIntervalMs: policy.sweepIntervalMs,
    pollMs: options.pollMs ?? [1_000, 2_000],
    hintedPollMs: hintedPollMs(parts),
    graceMs: options.graceMs ?? 25_000,
    hangGraceMs: options.hangGraceMs ?? DEFAULT_HANG_GRACE_MS,
    txTimeoutMs: options.txTimeoutMs ?? 60_000,
    leakBudget: options.leakBudget ?? 2,
    onHang: options.onHang ?? 'reopen',
  })
}

/**
 * Hints reach a worker of the native table for every job that the engine writes. Other tables have writers of their own, which
 * send none, and their documents fix the interval.
 */
function hintedPollMs({ table, options }: StartedParts): [number, number] | undefined {
  return table.attachment === 'native' && options.pollMs === undefined ? [5_000, 7_500] : undefined
}

/** A worker that cannot send heartbeats, or whose breakers are refused, does not start; its thread is stopped. */
async function untilReady<T>(heartbeat: Heartbeat, prepared: Promise<T>, limit: StartLimit): Promise<T> {
  const died = heartbeat.died.then((error) => Promise.reject(error))
  try {
    const [answer] = await Promise.race([Promise.all([prepared, limit.within(heartbeat.ready)]), died])
    return answer
  } catch (error) {
    await heartbeat.stop()
    throw error
  }
}

/** The dependency at GATEWAY_URL. */
const GATEWAY = 'gateway'

/** CIRCUIT_*, GATEWAY_URL and its probe URL configure the dependency `gateway`; options in code override them. */
export function dependencyOptions({
  config,
  options,
  handlers,
}: Pick<ApplicationParts, 'config' | 'options' | 'handlers'>): Record<string, DependencyOptions> {
  const given = options.dependencies ?? {}
  if (!handlers.some(({ dependency }) => dependency === GATEWAY)) return given
  const isSet = (name: string) =>
    config.values.some((value) => value.name === name && value.source !== 'default')
  const { circuit, gateway } = config
  const { breakerMode } = profileOf(config)
  const probeUrl = gateway.probeUrl ?? gateway.url
  const hasProbe = probeUrl !== null || given[GATEWAY]?.probeUrl !== undefined
  const configured: DependencyOptions = {
    // Without a probe only an operator could end a hold.
    ...(breakerMode !== undefined && hasProbe ? { mode: breakerMode } : {}),
    ...(isSet('circuit.window') ? { windowCalls: circuit.window } : {}),
    ...(isSet('circuit.windowMs') ? { windowMs: circuit.windowMs } : {}),
    ...(isSet('circuit.failThreshold') ? { failThreshold: circuit.failThreshold } : {}),
    ...(isSet('circuit.cooldownMs') ? { cooldownMs: circuit.cooldownMs } : {}),
    ...(probeUrl === null ? {} : { probeUrl }),
  }
  return { ...given, [GATEWAY]: { ...configured, ...given[GATEWAY] } }
}

/** Undefined for a single database. */
function startShardHeartbeats(parts: StartedParts, workerId: string): ShardedHeartbeat | undefined {
  const { open, shards } = parts
  if (open.store.shards === undefined || shards === undefined) return undefined
  return joinHeartbeats(open.store.shards, (number) => {
    const shard = shards.find((each) => each.number === number)
    return shard === undefined ? startHeartbeat(parts, workerId) : startShardHeartbeat(parts, shard, workerId)
  })
}

function startShardHeartbeat(parts: StartedParts, { server, table }: OpenShard, workerId: string): Heartbeat {
  if (typeof server === 'string') return startHeartbeat({ ...parts, directUrl: server, table }, workerId)
  const heartbeat = startHeartbeat({ ...parts, directUrl: server.known(), table }, workerId)
  server.onMoved((url) => heartbeat.moveTo?.(url))
  return heartbeat
}

const MAIN_THREAD_WARNING =
  'pool: heartbeats run on the main thread, where a handler that blocks the event loop loses its lease; give directUrl too'

function startHeartbeat(
  { directUrl, open, config, options, table, policy, events: emitter }: StartedParts,
  workerId: string,
): Heartbeat {
  const events = heartbeatEvents(emitter, workerId)
  if (directUrl === null) {
    if (options.pool !== undefined) emitter.emit('config:warned', { warning: MAIN_THREAD_WARNING })
    return startMainHeartbeat({
      store: open.store,
      intervalMs: policy.heartbeatMs,
      policy: config.policy,
      events,
    })
  }
  const workerData: HeartbeatThreadData = {
    databaseUrl: directUrl,
    // The native table is in the schema of its engine.
    schema: table.attachment === 'native' ? table.schema : config.schema,
    table,
    workerId,
    processKey,
    policy: config.policy,
    intervalMs: policy.heartbeatMs,
  }
  return startThreadHeartbeat({
    threadUrl: new URL('../../compose/heartbeat-thread.js', import.meta.url),
    workerData,
    events,
  })
}

function heartbeatEvents(events: RuntimeEventEmitter, workerId: string): HeartbeatEvents {
  return {
    onBeat: (leases) => events.emit('heartbeat:sent', { leases }),
    onFailed: (error, failingForMs) => events.emit('heartbeat:failed', { error, failingForMs }),
    onRecovered: (failedForMs) => events.emit('heartbeat:recovered', { failedForMs }),
    onLag: (lagMs) => events.emit('loop:lagged', { lagMs }),
    onPresenceOff: (reason) => events.emit('presence:off', { workerId, reason }),
  }
}
