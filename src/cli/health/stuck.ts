import type { Command } from 'commander'
import { policyOf } from '../../commands/command.ts'
import { previewSweep } from '../../commands/queue-control-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import { withOverride } from '../../policy/policy.ts'
import { ageRuleOf } from '../../profile/age-rule-of.ts'
import type { ReapedJob } from '../../store/job-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { hiddenLine, markUnhealthy, seenTables } from '../connection/hidden-tables.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { describeUnjudged } from './status.ts'

interface StuckJob extends ReapedJob {
  table: string
  /** Null beyond the first 1,000. */
  type: string | null
  overdueMs: number | null
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
    const observed = new Set<string>()
    const { tables, hidden } = await seenTables(context.tables)
    markUnhealthy(hidden)
    for (const { name, table, store } of tables) {
      const { reaped: jobs } = valueOf(await previewSweep(context, { table: name }))
      const stale = await store.listStaleJobs({ limit: MAX_STALE, ...policyOf(context) })
      const known = new Map(stale.jobs.map((job) => [job.jobId, job]))
      stuck.push(
        ...jobs.map((job) => {
          const { type = null, overdueMs = null } = known.get(job.jobId) ?? {}
          return { table: name, ...job, type, overdueMs }
        }),
      )
      if (jobs.length > 0 && (await store.readMode()).mode === 'observe') observed.add(name)
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
      ...stuck.map(({ jobId, type, overdueMs, reason, workerId, action }) => [
        jobId,
        type ?? '',
        overdueMs === null ? '–' : showDuration(overdueMs),
        workerId ?? '',
        reason,
        action,
      ]),
    ]
    printTable(rows, { whole: ['JOB', 'OVERDUE'], spare: ['WHY', 'WORKER'] })
    for (const line of unjudged) printLine(`! ${line}`)
    const judged = stuck.filter(({ action }) => action !== 'reported')
    if (judged.some(({ table }) => observed.has(table))) printLine('Next:  unstuck mode reap')
    else if (judged.length > 0) printLine('Next:  unstuck reap --once')
  })
}
