// Progress and outcome of a bulk change, one for each table or shard.
import { showCount } from '../../policy/explain/show-count.ts'
import type { OperationStop } from '../../policy/operation-move.ts'
import type { Operation } from '../../store/job-store.ts'
import type { PlannedTotal } from '../../store/ports/operation-store.ts'
import { escapeControls } from '../terminal/escape-controls.ts'
import { printLine, printProgress } from '../terminal/output.ts'

export interface BulkWords {
  /** The question, or the output of a dry run; `count` is the total as shown. */
  planOf: (count: string, plan: PlannedTotal) => string
  /** `3 of 4 jobs retried`. */
  done: string
  /** `, 1 were no longer dead`. */
  refused: string
  /** The error if no job matches. */
  none: string
}

/** `operationId` is null if the store has no operations, or a shard did not confirm that it began. */
export type BulkReport = { table: string; operationId: string | null } & Pick<
  Operation,
  'total' | 'changed' | 'refused' | 'succeeded' | 'failed' | 'stopped'
>

/** The shard stopped answering: `changed` and `refused` are what it confirmed before. */
export const SHARD_SILENT = 'shard-silent'

export function reportOf(table: string, operation: Operation): BulkReport {
  const { id, total, changed, refused, succeeded, failed, stopped } = operation
  return { table, operationId: id, total, changed, refused, succeeded, failed, stopped }
}

/** `last` is what the shard answered last; undefined before the operation began. */
export function silentReport(table: string, total: number, last: Operation | undefined): BulkReport {
  const none = { operationId: null, total, changed: 0, refused: 0, succeeded: 0, failed: 0 }
  return { table, ...(last === undefined ? none : reportOf(table, last)), stopped: SHARD_SILENT }
}

/** One updated line on a terminal; elsewhere a line per tenth. */
export function progressPrinter(table: string): (operation: Operation) => void {
  let shown = -1
  return ({ action, phase, total, changed, refused, succeeded, failed }) => {
    if (phase === null) return
    const done = changed + refused
    const fate = action === 'redrive' ? ` · succeeded ${succeeded} · failed ${failed}` : ''
    const line = `${table}: ${phase === 'canary' ? 'canary' : `${done}/${total}`}${fate}`
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${escapeControls(line)}   ${phase === 'rest' && done === total ? '\n' : ''}`)
      return
    }
    const tenth = phase === 'canary' ? 0 : 1 + Math.floor((10 * done) / total)
    if (tenth !== shown) printProgress(line)
    shown = tenth
  }
}

const stops: Record<OperationStop, string> = {
  'canary-failed': 'the canary failed again',
  'canary-timeout': 'the canary did not finish in time: is a worker running?',
  'too-many-failures': 'half of the first jobs failed again',
  'breaker-open': 'the breaker of a queue is open',
  interrupted: 'interrupted',
}

export function printReport(report: BulkReport, words: BulkWords): void {
  const { table, total, changed, refused, stopped } = report
  const others = refused === 0 ? '' : `, ${refused} ${words.refused}`
  const isSilent = stopped === SHARD_SILENT
  const shown = showCount({ changed, atLeast: isSilent ? ['changed'] : [] }, 'changed')
  printLine(`${table}: ${shown} of ${total} jobs ${words.done}${others}`)
  if (isSilent) printLine(describeSilence(report))
  else if (stopped !== null) {
    const why = Object.hasOwn(stops, stopped) ? stops[stopped as OperationStop] : stopped
    printLine(`stopped: ${why}. The rest is unchanged.`)
  }
}

function describeSilence({ operationId }: BulkReport): string {
  const resume = 'Repeat the command when it answers again: it changes the rest.'
  return operationId === null
    ? `stopped: the shard did not answer. ${resume}`
    : `stopped: the shard did not answer. ${resume} So does unstuck serve, as operation ${operationId}.`
}
