// The services that run beside a worker: notifications of new jobs, schedules, dispatch to an external queue, retention,
// webhooks, trends, and reports of the worker.
import { createRequire } from 'node:module'
import { listen, type OpenShard, type OpenTable, type ServerAddress } from '../../compose/index.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import { type DispatchAdapter, startDispatcher } from '../../runtime/dispatch/dispatcher.ts'
import { startPruner } from '../../runtime/services/pruner.ts'
import { type RecurringJob, startScheduler } from '../../runtime/services/scheduler.ts'
import { startTrends } from '../../runtime/services/trends.ts'
import { watchUnhandledTypes } from '../../runtime/services/unhandled-types.ts'
import { within } from '../../runtime/timing/wait.ts'
import { startWebhookSender } from '../../runtime/webhooks/webhook-sender.ts'
import type { Worker } from '../../runtime/worker/worker.ts'
import { startWorkerReport, type WorkerReporter } from '../../runtime/worker/worker-report.ts'
import { hasCapability } from '../../store/capability.ts'
import type { JobStore, PolicyOption } from '../../store/job-store.ts'

export interface ServiceOptions {
  store: JobStore
  schema: string
  table: TableProfile
  /** The table by its own name, if `table` is named after its shard in events. */
  listenTable?: TableProfile
  events: RuntimeEventEmitter
  policy: PolicyOverride
  /** Overrides the stored policy when a job is enqueued. */
  enqueuePolicy: PolicyOption
  /** Where notifications come from. Null if the policy disables them. */
  notifier: ServerAddress | null
  sendHint: OpenTable['sendHint']
  worker: Worker
  /** Queues that the worker claims from. */
  queues: string[]
  schedules: RecurringJob[]
  dispatch: DispatchAdapter | undefined
  isPruning: boolean
  /** One of several: schedules and counts of this process are not its own. */
  shard?: number
  sweepIntervalMs: number
  allowsPrivateWebhooks: boolean
  /** Version of the application; null if it has none. */
  appVersion: string | null
}

/** Calls that the database has not answered by then fail when the connections are closed. */
const LAST_CALLS_MS = 2_000

interface Service {
  stop(): Promise<void>
}

export interface Services {
  /** Problems that an operator should know of. */
  problems(): string[]
  /** Lets current calls end, for 2 s at most. */
  stop(): Promise<void>
}

export function startServices(options: ServiceOptions): Services {
  const known: Known = { areHintsArriving: false, hasWebhooks: true }
  const reporter = startReporting(options, known)
  const { store, events, queues } = options
  const unhandled = watchUnhandledTypes({ table: options.table.table, store, events, queues })
  const running = [
    reporter,
    unhandled,
    startListening(options, known, reporter),
    options.shard === undefined ? startScheduling(options) : undefined,
    startDispatching(options),
    startPruning(options),
    startSending(options, known),
    // The counts of a process are those of all its shards: each shard counts its rows instead.
    options.shard === undefined ? startCounting(options) : undefined,
  ].filter((service) => service !== undefined)
  return {
    problems: () => unhandled.problems(),
    async stop() {
      const stopped = Promise.all(running.map((service) => service.stop()))
      await within(
        LAST_CALLS_MS,
        stopped.then(() => {}),
      )
    },
  }
}

/** The services of each shard, and the schedules of all of them, which have a home each. */
export function startShardServices(
  options: Omit<ServiceOptions, 'notifier' | 'sendHint'>,
  shards: OpenShard[],
  listens: boolean,
): Services {
  const { worker } = options
  const arriving = new Map(shards.map(({ number }) => [number, false]))
  const parts = shards.map(({ number, server, schema, table, shard, sendHint }) =>
    startServices({
      ...options,
      shard: number,
      store: shard.store,
      schema,
      table: { ...table, table: `${table.table}:${number}` },
      listenTable: table,
      notifier: listens ? server : null,
      sendHint,
      worker: {
        ...worker,
        noteReport: (news) => worker.noteReport(news, number),
        // Polls stay frequent until hints of every shard arrive.
        trustHints(isTrusted) {
          arriving.set(number, isTrusted)
          worker.trustHints([...arriving.values()].every(Boolean))
        },
      },
    }),
  )
  const scheduling = startScheduling(options)
  return {
    problems: () => parts.flatMap((part) => part.problems()),
    async stop() {
      await Promise.all([...parts, scheduling].map((service) => service.stop()))
    },
  }
}

/** Facts that one service finds out for the others. */
interface Known {
  areHintsArriving: boolean
  hasWebhooks: boolean
}

/** The report says whether hints arrive: other workers take turns with those that they reach. */
function startListening(
  { notifier, sendHint, schema, table, listenTable = table, events, worker }: ServiceOptions,
  known: Known,
  reporter: WorkerReporter,
): Service | undefined {
  if (notifier === null || sendHint === undefined) return undefined
  const note = (areArriving: boolean) => {
    known.areHintsArriving = areArriving
    worker.trustHints(areArriving)
    reporter.wake()
  }
  return listen({
    databaseUrl: notifier,
    schema,
    table: listenTable,
    sendTest: sendHint,
    onHint: (hint) => worker.wake(hint),
    onCancels: (leaseNumbers) => worker.hearCancels(leaseNumbers),
    onStarted(channel) {
      note(true)
      events.emit('listen:started', { channel })
    },
    onFailed(reason) {
      note(false)
      events.emit('listen:failed', { reason })
    },
  })
}

function startReporting(options: ServiceOptions, known: Known): WorkerReporter {
  const { store, events, worker, queues, sweepIntervalMs, appVersion } = options
  const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string }
  return startWorkerReport({
    store,
    events,
    version,
    // A report with a longer one would be refused.
    appVersion: appVersion?.slice(0, 200) ?? null,
    sweepIntervalMs,
    running: () => worker.running(),
    onDrain: () => void worker.stop('a drain was asked for'),
    hintedQueues: () => (known.areHintsArriving ? queues : undefined),
    onReport(news) {
      worker.noteReport(news)
      known.hasWebhooks = news?.hasWebhooks ?? known.hasWebhooks
    },
  })
}

function startSending(options: ServiceOptions, known: Known): Service | undefined {
  const { store, table, events, allowsPrivateWebhooks } = options
  if (!hasCapability(store, 'webhooks')) return undefined
  return startWebhookSender({
    table: table.table,
    store,
    events,
    isNeeded: () => known.hasWebhooks,
    allowsPrivate: allowsPrivateWebhooks,
  })
}

function startCounting({ store, table, events }: ServiceOptions): Service | undefined {
  if (!hasCapability(store, 'trends')) return undefined
  return startTrends({ table: table.table, store, events })
}

/** Runs even without schedules of its own: those that another process stored run as long as any worker does. */
function startScheduling({
  store,
  schedules,
  events,
  enqueuePolicy,
}: Pick<ServiceOptions, 'store' | 'schedules' | 'events' | 'enqueuePolicy'>): Service {
  return startScheduler({ store, schedules, events, ...enqueuePolicy })
}

function startDispatching({ dispatch, store, table, events }: ServiceOptions): Service | undefined {
  if (dispatch === undefined) return undefined
  const dispatcher = startDispatcher({ table: table.table, store, adapter: dispatch, events })
  const stopWaking = [
    events.on('sweep:done', ({ requeued }) => requeued > 0 && dispatcher.wake()),
    events.on('job:ended', ({ end }) => (end === 'retried' || end === 'released') && dispatcher.wake()),
  ]
  return {
    stop() {
      for (const stop of stopWaking) stop()
      return dispatcher.stop()
    },
  }
}

function startPruning({ isPruning, table, store, events, policy }: ServiceOptions): Service | undefined {
  if (!isPruning) return undefined
  const tables = [{ name: table.table, store }]
  return startPruner({ tables, events, retentionDays: policy.retentionDays })
}
