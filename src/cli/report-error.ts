import { CommanderError } from 'commander'
import { errorCatalog, exitCodes, isUnstuckError } from '../errors/index.ts'
import { safeJson } from './terminal/escape-controls.ts'
import { printErrorText, printProgress } from './terminal/output.ts'

/** 0 success · 1 problem found · 2 usage or configuration · 3 database unreachable · 4 refused · 130 interrupted */
export function exitCodeOf(error: unknown): number {
  if (isUnstuckError(error)) return errorCatalog[error.code].exitCode
  // Exit code 0: help or version. Everything else that commander throws is a usage error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
  return exitCodes.problemFound
}

/** One line for people, or one JSON object. A bug shows its stack. */
export function reportError(error: unknown, isJson: boolean): void {
  if (error instanceof CommanderError) return reportUsage(error, isJson)
  if (isUnstuckError(error)) {
    const { code, message, hint } = error
    if (isJson) return printProgress(safeJson({ error: { code, message, hint: hint ?? null } }))
    printProgress(`unstuck: ${message}`)
    if (hint !== undefined) printProgress(`         ${hint}`)
    return
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (isJson) return printProgress(safeJson({ error: { code: 'INTERNAL', message: text } }))
  printErrorText(text)
}

/** Without --json commander has printed the error and its suggestion already. */
function reportUsage({ exitCode, message }: CommanderError, isJson: boolean): void {
  if (!isJson || exitCode === 0) return
  const [first = message, hint = null] = message.split('\n')
  const error = { code: 'INVALID_ARGUMENT', message: first.replace(/^error: /, ''), hint }
  printProgress(safeJson({ error }))
}
