import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { given } from '../../commands/given.ts'
import { UnstuckError } from '../../errors/index.ts'
import { type Unstuck, unstuck } from '../../unstuck/unstuck.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { readWholeNumber } from '../jobs/job-flags.ts'
import { type MetricsFlags, serveMetrics, withMetrics } from './serve-metrics.ts'
import { isJsonLog, jsonLogger, textLogger } from './service-log.ts'
import { startOtel } from './start-otel.ts'

export interface WorkerFlags extends ConnectionFlags, MetricsFlags {
  table?: string
  concurrency?: string
  appVersion?: string
}

export function defineWorker(command: Command): void {
  withMetrics(withConnection(command))
    .argument('<handlers>', 'a JavaScript module: export default (q) => q.handle(…)')
    .option('--table <name>', 'table of the profile; default: the first')
    .option('--concurrency <jobs>', 'maximum number of running jobs (WORKER_CONCURRENCY)', readWholeNumber)
    .option('--app-version <text>', 'version of your application (UNSTUCK_APP_VERSION)')
    .addHelpText('after', example('unstuck worker ./handlers.js --concurrency 10'))
    .action(workerCommand)
}

/** The module registers its handlers: `export default (q) => q.handle('asr', …)`. */
async function workerCommand(file: string, flags: WorkerFlags): Promise<void> {
  // Validated before application code runs.
  const config = loadCommandConfig(
    flags,
    given({ concurrency: flags.concurrency, appVersion: flags.appVersion }),
  )
  const register = await loadRegister(file)
  const stopOtel = await startOtel()
  const q = unstuck({
    ...(config.databaseUrl === null ? {} : { databaseUrl: config.databaseUrl }),
    ...(config.shards === null ? {} : { shards: config.shards }),
    ...(flags.config === undefined ? {} : { config: flags.config }),
    schema: config.schema,
    profile: config.profile,
    ...(flags.table === undefined ? {} : { table: flags.table }),
    concurrency: config.workerConcurrency,
    ...(config.appVersion === null ? {} : { appVersion: config.appVersion }),
    handleSignals: true,
    logger: isJsonLog(flags) ? jsonLogger : textLogger,
  })
  await register(q)
  const metrics = await serveMetrics(flags, () => q.metrics())
  try {
    await q.start()
    process.exitCode = await q.ended
  } finally {
    metrics?.close()
    await stopOtel()
  }
}

async function loadRegister(file: string): Promise<(q: Unstuck) => unknown> {
  const url = pathToFileURL(file).href
  const loaded = (await import(url).catch((cause: unknown) => {
    const message = `handlers ${file}: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new UnstuckError('INVALID_ARGUMENT', message, { cause })
  })) as { default?: unknown }
  if (typeof loaded.default !== 'function') {
    throw new UnstuckError('INVALID_ARGUMENT', `handlers ${file}: the default export is not a function`, {
      hint: "Write: export default (q) => q.handle('type', async (job, { signal }) => { … })",
    })
  }
  return loaded.default as (q: Unstuck) => unknown
}
