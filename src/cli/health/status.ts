import {
  listBreakers,
  previewSweep,
  readHealth,
  type TableHealth,
} from '../../commands/queue-control-commands.ts'
import { readSlo } from '../../commands/worker-commands.ts'
import type { DeploymentTable } from '../../compose/index.ts'
import { exitCodes, UnstuckError } from '../../errors/index.ts'
import { showCount } from '../../policy/explain/show-count.ts'
import { isReaperLate } from '../../policy/explain/table-health.ts'
import { type AgeRule, explainUnjudged } from '../../policy/lease/age-rule.ts'
import { withOverride } from '../../policy/policy.ts'
import { ageRuleOf } from '../../profile/age-rule-of.ts'
import type { ModeStatus, ReapedJob, Slo } from '../../store/job-store.ts'
import type { QueueStatus } from '../../store/ports/dependency-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { hiddenLine, markUnhealthy, seenTables } from '../connection/hidden-tables.ts'
import { type CliContext, valueOf, withCommands } from '../connection/with-commands.ts'
import { describeBreaker } from '../queues/breaker.ts'
import { describePause } from '../queues/queues.ts'
import { showBound, showDuration, showTime } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface TableStatus {
  table: string
  mode: ModeStatus
  health: Omit<TableHealth, 'queues'>
  ageRule: AgeRule
  pausedQueues: QueueStatus[]
  /** Over the last 24 hours. */
  slo: Slo
}

/** Shows the state of every table of the profile. Exit code 1 if one is not healthy, by the rule of GET /v1/health. */
export async function statusCommand(flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const tables: TableStatus[] = []
    for (const table of context.tables) tables.push(await readStatus(context, table))
    const breakers = valueOf(await listBreakers(context, undefined))
    const notClosed = breakers.filter(({ state }) => state !== 'closed')
    if (tables.some(({ health }) => !health.isHealthy)) process.exitCode = exitCodes.problemFound
    const { schema, profile } = context.config
    if (flags.json === true) return printJson({ schema, profile, tables, breakers: notClosed })
    for (const { table, mode, health, ageRule, pausedQueues, slo } of tables) {
      printLine(`${table} · ${describeMode(mode)}`)
      printHealth(health, ageRule)
      printLine(`  ${describeSlo(slo, health)}`)
      for (const queue of pausedQueues) printLine(`  ◐ ${describePause(queue)}`)
    }
    for (const breaker of notClosed) printLine(`◐ ${describeBreaker(breaker)}`)
  })
}

async function readStatus(
  context: CliContext,
  { name, table, store }: DeploymentTable,
): Promise<TableStatus> {
  const input = { table: name }
  const { queues, ...health } = onlyOne(valueOf(await readHealth(context, input)))
  return {
    table: name,
    mode: await store.readMode(),
    health,
    ageRule: ageRuleOf(table, withOverride(await store.readPolicy(), context.policy)),
    pausedQueues: queues.filter(({ isPaused }) => isPaused),
    slo: onlyOne(valueOf(await readSlo(context, input))),
  }
}

function onlyOne<Value>(answers: { value: Value }[]): Value {
  const [answer] = answers
  if (answer === undefined) throw new UnstuckError('INTERNAL', 'no answer for a table')
  return answer.value
}

function describeMode({ mode, since }: ModeStatus): string {
  const note = mode === 'observe' ? ': sweeps only record what they would do' : ''
  return `mode ${mode}${since === null ? '' : ` since ${showTime(since)}`}${note}`
}

function printHealth(health: TableStatus['health'], ageRule: AgeRule): void {
  const { oldestOverdueMs, oldestDueMs, reaperAgeMs, holdReason } = health
  printTable([
    [
      '  waiting',
      showCount(health, 'waiting'),
      `due ${showCount(health, 'due')}${oldestDueMs === null ? '' : `, oldest for ${showDuration(oldestDueMs)}`}`,
    ],
    [
      '  running',
      showCount(health, 'running'),
      `past their lease ${showCount(health, 'overdue')}${oldestOverdueMs === null ? '' : `, oldest by ${showDuration(oldestOverdueMs)}`}`,
    ],
  ])
  if (health.hidden !== null) printLine(`  ${hiddenLine(health.hidden)}`)
  if (health.unjudged > 0) printLine(`  ! ${describeUnjudged(health.unjudged, ageRule)}`)
  if (holdReason !== null)
    printLine(`  ! the reaper holds leases that expired during an outage (${holdReason})`)
  if (reaperAgeMs === null) printLine('  ✗ no sweep has run yet: start a worker, or unstuck reaper')
  else if (isReaperLate(reaperAgeMs, health.sweepIntervalMs))
    printLine(`  ✗ last sweep ${showDuration(reaperAgeMs)} ago: start a worker, or unstuck reaper`)
  else printLine(`  last sweep ${showDuration(reaperAgeMs)} ago`)
}

function describeUnjudged(count: number, ageRule: AgeRule): string {
  const { cause, remedy } = explainUnjudged(ageRule)
  return `${count} running without a lease, and ${cause}: ${remedy}`
}

/** `● rescue last 24 h: 14 rescued (12 worker-gone, 2 crash), p50 31 s, p95 44 s, worst 48 s — promise ≤ 50 s` */
function describeSlo(slo: Slo, { overdue }: TableStatus['health']): string {
  const { rescued, inTime, p50Ms, p95Ms, worstMs, promiseMs, byCause } = slo
  const causes = (['worker-gone', 'crash', 'timeout'] as const).filter((cause) => byCause[cause] > 0)
  const by = causes.map((cause) => `${byCause[cause]} ${cause}`).join(', ')
  const promise = `promise ≤ ${showBound(promiseMs)}`
  const waiting = overdue === 0 ? '' : `, ${overdue} to rescue now`
  const late = inTime === rescued ? '' : `, ${rescued - inTime} late`
  const sign = waiting === '' && late === '' ? '●' : '!'
  if (p50Ms === null || p95Ms === null || worstMs === null)
    return `${sign} rescue last 24 h: ${waiting === '' ? 'none needed' : `none yet${waiting}`} — ${promise}`
  const times = `p50 ${showDuration(p50Ms)}, p95 ${showDuration(p95Ms)}, worst ${showDuration(worstMs)}`
  return `${sign} rescue last 24 h: ${rescued} rescued (${by})${late}${waiting}, ${times} — ${promise}`
}

/** Lists jobs past their lease. Exit code 1 if there are any, or if some may be hidden. */
export async function stuckCommand(flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const stuck: (ReapedJob & { table: string })[] = []
    const unjudged: string[] = []
    const observed = new Set<string>()
    const { tables, hidden } = await seenTables(context.tables)
    markUnhealthy(hidden)
    for (const { name, table, store } of tables) {
      const { reaped: jobs } = valueOf(await previewSweep(context, { table: name }))
      stuck.push(...jobs.map((job) => ({ table: name, ...job })))
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
    const rows = stuck.map(({ table, jobId, stage, reason, workerId, attempt, action }) => [
      table,
      jobId,
      stage ?? '',
      reason,
      workerId ?? '',
      String(attempt),
      action,
    ])
    printTable([['TABLE', 'JOB', 'STAGE', 'WHY', 'WORKER', 'ATTEMPT', 'NEXT SWEEP'], ...rows])
    for (const line of unjudged) printLine(`! ${line}`)
    const judged = stuck.filter(({ action }) => action !== 'reported')
    if (judged.some(({ table }) => observed.has(table))) printLine('Next:  unstuck mode reap')
    else if (judged.length > 0) printLine('Next:  unstuck reap --once')
  })
}
