import type { Command } from 'commander'
import { policyOf } from '../../commands/command.ts'
import { previewSweep } from '../../commands/queue-control-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import type { StaleCode } from '../../policy/explain/explain-stale.ts'
import type { Remedy } from '../../policy/explain/reason.ts'
import { remedyOfStale, sweepNow } from '../../policy/explain/remedy.ts'
import { withOverride } from '../../policy/policy.ts'
import { ageRuleOf } from '../../profile/age-rule-of.ts'
import type { ReapedJob, StaleJob } from '../../store/job-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { hiddenLine, markUnhealthy, seenTables } from '../connection/hidden-tables.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { printRemedies } from '../terminal/print-remedies.ts'
import { describeUnjudged } from './status.ts'

interface StuckJob extends ReapedJob {
  table: string
  /** Null beyond the first 1,000, like the next two. */
  type: string | null
  overdueMs: number | null
  /** Why it was not requeued yet; null too if its lease has not expired, and its worker is gone. */
  code: StaleCode | null
  remedy: Remedy | null
}

const MAX_STALE = 1_000

export function defineStuck(command: Command): void {
  withConnection(command).addHelpText('after', example('unstuck stuck --json')).action(stuckCommand)
}

/** Lists jobs past their lease. Exit code 1 if there are any, or if some may be hidden. */
async function stuckCommand(flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const stuck: StuckJob[] = []
    const unjudged: string[] = []
    const { tables, hidden } = await seenTables(context.tables)
    markUnhealthy(hidden)
    for (const { name, table, store } of tables) {
      const { reaped: jobs } = valueOf(await previewSweep(context, { table: name }))
      const stale = await store.listStaleJobs({ limit: MAX_STALE, ...policyOf(context) })
      const known = new Map(stale.jobs.map((job) => [job.jobId, job]))
      stuck.push(...jobs.map((job) => ({ table: name, ...job, ...causeOf(known.get(job.jobId)) })))
      const reported = jobs.filter(({ action }) => action === 'reported').length
      if (reported === 0) continue
      const ageRule = ageRuleOf(table, withOverride(await store.readPolicy(), context.policy))
      unjudged.push(`${name}: ${describeUnjudged(reported, ageRule)}`)
    }
    if (stuck.length > 0) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ stuck, hidden })
    for (const found of hidden) printLine(hiddenLine(found))
    if (stuck.length === 0) return hidden.length === 0 ? printLine('no stuck jobs') : undefined
    const rows = [
      ['JOB', 'TYPE', 'OVERDUE', 'WORKER', 'WHY', 'NEXT SWEEP'],
      ...stuck.map(({ jobId, type, overdueMs, reason, workerId, action, code }) => [
        jobId,
        type ?? '',
        overdueMs === null ? '–' : showDuration(overdueMs),
        workerId ?? '',
        code === null || code === 'LEASE_OVER_AWAITING_REAPER' ? reason : causes[code],
        nextSweep(code, action),
      ]),
    ]
    printTable(rows, { whole: ['JOB', 'OVERDUE'], spare: ['WHY', 'WORKER'] })
    for (const line of unjudged) printLine(`! ${line}`)
    printRemedies(stuck.flatMap(({ remedy }) => remedy ?? []))
  })
}

function causeOf(stale: StaleJob | undefined): Pick<StuckJob, 'type' | 'overdueMs' | 'code' | 'remedy'> {
  if (stale === undefined) return { type: null, overdueMs: null, code: null, remedy: sweepNow }
  const { type, overdueMs, code } = stale
  return { type, overdueMs, code, remedy: remedyOfStale(stale) }
}

const causes: Record<Exclude<StaleCode, 'LEASE_OVER_AWAITING_REAPER'>, string> = {
  ROW_LOCKED: 'row is locked',
  HELD: 'held after an outage',
  OBSERVED: 'mode observe',
  NO_REAPER: 'no reaper',
  LEASE_UNKNOWN: 'no lease',
  TYPE_WITHOUT_TTL: 'type without a lease',
}

/** A preview is that of a manual sweep, which holds nothing, and takes no locks. */
function nextSweep(code: StaleCode | null, action: ReapedJob['action']): string {
  if (code === 'ROW_LOCKED') return 'skipped'
  if (code === 'HELD') return 'held'
  return code === 'OBSERVED' ? 'recorded' : action
}
