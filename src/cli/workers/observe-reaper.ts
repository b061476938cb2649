// Observability of a reaper process: log lines, metrics for Prometheus and OpenTelemetry.
import type { Deployment, DeploymentTable } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { isOutage, isUnstuckError } from '../../errors/index.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import { logEvents } from '../../observe/logs/log-events.ts'
import type { MetricsOptions } from '../../observe/metrics/metric-readings.ts'
import { createMetrics } from '../../observe/metrics/metrics.ts'
import { openOtelMetrics } from '../../observe/metrics/otel-metrics.ts'
import { emitSweep } from '../../runtime/services/emit-sweep.ts'
import type { ReaperOptions } from '../../runtime/services/reaper.ts'
import { printJson, printLine, printNotice, printProgress } from '../terminal/output.ts'
import { printReport } from './print-sweep.ts'
import { type MetricsFlags, serveMetrics } from './serve-metrics.ts'
import { isJsonLog, jsonLogger } from './service-log.ts'
import { startOtel } from './start-otel.ts'

type Observers = Required<Pick<ReaperOptions, 'onSweep' | 'onStandBy' | 'onError' | 'onUncounted'>>

interface ReaperView extends Observers {
  onStart(tables: string[], intervalMs: number): void
}

export interface ObservedReaper {
  observers: ReaperView
  stop: () => Promise<void>
}

export async function observeReaper(
  tables: Deployment['tables'],
  config: Config,
  flags: MetricsFlags & { json?: boolean },
  events: RuntimeEventEmitter,
): Promise<ObservedReaper> {
  const view = flags.json === true ? jsonView(events) : isJsonLog(flags) ? logView(events) : textView(events)
  const options = metricsOptions(tables, config, events)
  const stopOtel = await startOtel()
  const otel = await openOtelMetrics(options)
  const metrics = await serveMetrics(flags, () => createMetrics(options))
  return {
    observers: {
      ...view,
      onSweep(table, report) {
        emitSweep(events, table, report)
        view.onSweep(table, report)
      },
      onError(table, error) {
        events.emit('sweep:failed', { table, error })
        view.onError(table, error)
      },
    },
    async stop() {
      metrics?.close()
      // The last export reads the tables once more.
      await stopOtel()
      otel?.stop()
    },
  }
}

/** Each table with its own readings. */
function metricsOptions(
  tables: Deployment['tables'],
  { policy }: Config,
  events: RuntimeEventEmitter,
): MetricsOptions {
  const [first] = tables
  const ofEach = <Reading extends object>(read: (store: (typeof first)['store']) => Promise<Reading>) =>
    readAnswering(tables, async ({ name, store }) => ({ ...(await read(store)), table: name }))
  return {
    events,
    table: first.name,
    readHealth: () => ofEach((store) => store.readHealth({ policy })),
    // As of the first shard that answers.
    readBreakers: async () => (await readAnswering(tables, ({ store }) => store.listBreakers()))[0] ?? [],
    readSlo: () => ofEach((store) => store.readSlo({ policy })),
  }
}

/** Without the readings of shards that are down, unless all are. */
async function readAnswering<Reading>(
  tables: Deployment['tables'],
  read: (table: DeploymentTable) => Promise<Reading>,
): Promise<Reading[]> {
  const results = await Promise.allSettled(tables.map(read))
  const failures: unknown[] = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  if (failures.length === tables.length || !failures.every((error) => isOutage(error))) throw failures[0]
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

function jsonView(events: RuntimeEventEmitter): ReaperView {
  events.on('jobs:not-understood', (notice) => printJson({ event: 'not-understood', ...notice }))
  return {
    onStart: () => {},
    onSweep: (table, report) => printJson({ event: 'sweep', table, ...report }),
    onStandBy: (table) => printJson({ event: 'standing-by', table }),
    onError(table, error) {
      const code = isUnstuckError(error) ? error.code : 'INTERNAL'
      printJson({ event: 'sweep-failed', table, code, message: messageOf(error) })
    },
    onUncounted: () => {},
  }
}

/** The lines of a worker: one for each action (SEE-1). */
function logView(events: RuntimeEventEmitter): ReaperView {
  logEvents(events, jsonLogger)
  return {
    onStart: (tables, intervalMs) =>
      jsonLogger.info({ event: 'reaper:started', tables, interval_ms: intervalMs }, 'reaper started'),
    onSweep: () => {},
    onStandBy: (table) =>
      jsonLogger.info({ event: 'reaper:standing-by', table }, 'another process sweeps the table'),
    onError: () => {},
    onUncounted: (table, error) => events.emit('trends:failed', { table, error }),
  }
}

function textView(events: RuntimeEventEmitter): ReaperView {
  events.on('jobs:not-understood', printNotice)
  return {
    onStart: (tables, intervalMs) =>
      printLine(`reaping ${tables.join(', ')} every ${intervalMs / 1000} s · Ctrl-C to stop`),
    onSweep: printReport,
    onStandBy: (table) => printLine(`${table}: another process sweeps it · standing by`),
    onError: (table, error) =>
      printProgress(`unstuck: ${table}: sweep failed, retrying at the next interval: ${messageOf(error)}`),
    onUncounted: (table, error) =>
      printProgress(`unstuck: ${table}: trends not counted: ${messageOf(error)}`),
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
