// The log of a process that runs until it is stopped: text for a person at a terminal, JSON for whatever collects logs.
import type { Logger } from '../../observe/logs/log-events.ts'
import { printJson, printLine } from '../terminal/output.ts'

/** JSON lines with `--json`, and wherever nobody watches. */
export const isJsonLog = ({ json }: { json?: boolean }): boolean =>
  json === true || process.stdout.isTTY !== true

const line = (level: string) => (fields: object, message: string) => {
  printJson({ level, time: new Date().toISOString(), ...fields, msg: message })
}
export const jsonLogger: Logger = { info: line('info'), warn: line('warn'), error: line('error') }

const text = (mark: string) => (fields: object, message: string) => {
  const { job_id: jobId, type, reason } = fields as { job_id?: string; type?: string; reason?: string }
  const why = reason === message ? undefined : reason
  const about = [type, jobId, why].filter((part) => part !== undefined).join(' ')
  printLine(`${new Date().toISOString()} ${mark} ${message}${about === '' ? '' : `: ${about}`}`)
}
export const textLogger: Logger = { info: text(' '), warn: text('!'), error: text('✗') }
