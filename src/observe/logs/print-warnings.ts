// Warnings and failures on stderr, for a process without a logger outside production: one readable line each, once per cause
// and minute, then counted.
import type { RuntimeEventEmitter } from '../events.ts'
import { logEvents } from './log-events.ts'
import type { LogOptions } from './log-job-events.ts'

const REPEAT_MS = 60_000
/** Causes that are remembered at a time. */
const MOST_CAUSES = 1_000

interface Cause {
  line: string
  /** Times that the line was not printed. */
  repeats: number
}

interface LineFields {
  event?: string
  type?: string
  job_id?: string
  error_code?: string | null
  attempt?: number
  retry_in_ms?: number | null
  reason?: string | null
  err?: { message: string; stack?: string }
}

export function printWarnings(
  events: RuntimeEventEmitter,
  write: (line: string) => void,
  options: Pick<LogOptions, 'withStacks'> = {},
): void {
  const causes = new Map<string, Cause>()
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    for (const { line, repeats } of causes.values())
      if (repeats > 0) write(`${line} — ${repeats} more since the last line\n`)
    causes.clear()
  }
  const print = (fields: LineFields, message: string) => {
    const line = `unstuck: ${describeLine(fields, message)}`
    const cause = causes.get(causeOf(fields, message))
    if (cause !== undefined) {
      cause.repeats += 1
      cause.line = line
      return
    }
    if (causes.size >= MOST_CAUSES) flush()
    causes.set(causeOf(fields, message), { line, repeats: 0 })
    // Keeps no process alive.
    timer ??= setTimeout(flush, REPEAT_MS).unref()
    write(`${line}\n${indentStack(fields)}`)
  }
  const logger = { info: () => {}, warn: print, error: print }
  logEvents(events, logger, { ...options, onlyWarnings: true })
  events.on('worker:stopped', flush)
}

/** `job failed and will be retried: card declined (mail 0198…, UNKNOWN, attempt 1, again in 5 s)` */
function describeLine(fields: LineFields, message: string): string {
  const { type, job_id: jobId, error_code: code, attempt, retry_in_ms: retryInMs } = fields
  const reason = reasonIn(fields)
  const facts = [
    [type, jobId].filter((part) => part !== undefined).join(' '),
    code,
    attempt === undefined ? undefined : `attempt ${attempt}`,
    typeof retryInMs === 'number' ? `again in ${Math.ceil(retryInMs / 1_000)} s` : undefined,
  ].filter((fact) => fact !== undefined && fact !== null && fact !== '')
  const said = reason === '' || message.includes(reason) ? message : `${message}: ${reason}`
  return facts.length === 0 ? said : `${said} (${facts.join(', ')})`
}

function reasonIn({ err, reason }: LineFields): string {
  return err?.message ?? reason ?? ''
}

/** Numbers differ from job to job. */
function causeOf(fields: LineFields, message: string): string {
  const { event, type, error_code: code } = fields
  return [event, type, code, message, reasonIn(fields)]
    .join('\n')
    .replaceAll(/\d+|[0-9a-f]{8}-[0-9a-f-]{27}/g, '#')
}

function indentStack({ err }: LineFields): string {
  return err?.stack === undefined ? '' : `${err.stack.replaceAll(/^/gm, '    ')}\n`
}
