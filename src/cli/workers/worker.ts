import { pathToFileURL } from 'node:url'
import { UnstuckError } from '../../errors/index.ts'
import type { Logger } from '../../observe/logs/log-events.ts'
import { type Unstuck, unstuck } from '../../unstuck/unstuck.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { printJson, printLine } from '../terminal/output.ts'

export interface WorkerFlags extends ConnectionFlags {
  table?: string
  concurrency?: string
}

/** The module registers its handlers: `export default (q) => q.handle('asr', …)`. */
export async function workerCommand(file: string, flags: WorkerFlags): Promise<void> {
  // Validated before application code runs.
  const config = loadCommandConfig(
    flags,
    flags.concurrency === undefined ? {} : { concurrency: flags.concurrency },
  )
  const register = await loadRegister(file)
  const q = unstuck({
    ...(config.databaseUrl === null ? {} : { databaseUrl: config.databaseUrl }),
    ...(flags.config === undefined ? {} : { config: flags.config }),
    schema: config.schema,
    profile: config.profile,
    ...(flags.table === undefined ? {} : { table: flags.table }),
    concurrency: config.workerConcurrency,
    handleSignals: true,
    logger: flags.json === true ? jsonLogger : textLogger,
  })
  await register(q)
  await q.start()
  process.exitCode = await q.ended
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

const line = (level: string) => (fields: object, message: string) => {
  printJson({ level, time: new Date().toISOString(), ...fields, msg: message })
}
const jsonLogger: Logger = { info: line('info'), warn: line('warn'), error: line('error') }

const text = (mark: string) => (fields: object, message: string) => {
  const { job_id: jobId, type, reason } = fields as { job_id?: string; type?: string; reason?: string }
  const about = [type, jobId, reason].filter((part) => part !== undefined).join(' ')
  printLine(`${new Date().toISOString()} ${mark} ${message}${about === '' ? '' : `: ${about}`}`)
}
const textLogger: Logger = { info: text(' '), warn: text('!'), error: text('✗') }
