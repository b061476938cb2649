import type { Command } from 'commander'
import { listDeadLetters } from '../../commands/jobs/dead-letter-commands.ts'
import { listBreakers, readHealth, type TableHealth } from '../../commands/queue-control-commands.ts'
import { listWorkers, readSlo } from '../../commands/worker-commands.ts'
import type { DeploymentTable } from '../../compose/index.ts'
import { exitCodes, UnstuckError } from '../../errors/index.ts'
import type { Remedy } from '../../policy/explain/reason.ts'
import { remediesOf, resumeBreaker, resumeQueue, startWorker } from '../../policy/explain/remedy.ts'
import { showCount } from '../../policy/explain/show-count.ts'
import { isReaperLate } from '../../policy/explain/table-health.ts'
import { describeFleet, type Fleet, fleetText } from '../../policy/fleet/fleet.ts'
import { type AgeRule, explainUnjudged } from '../../policy/lease/age-rule.ts'
import { withOverride } from '../../policy/policy.ts'
import { ageRuleOf } from '../../profile/age-rule-of.ts'
import { findUnhandledTypes, type UnhandledType } from '../../store/find-unhandled-types.ts'
import type { Breaker, ModeStatus, Slo, WorkerState } from '../../store/job-store.ts'
import type { QueueStatus } from '../../store/ports/dependency-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { hiddenLine } from '../connection/hidden-tables.ts'
import { type CliContext, databaseNow, valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { describeBreaker } from '../queues/breaker.ts'
import { describePause } from '../queues/queues.ts'
import { showAgo, showBound, showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printTable, printWrapped } from '../terminal/output.ts'
import { printRemedies } from '../terminal/print-remedies.ts'
import { nowOf } from '../workers/workers.ts'

export function defineStatus(command: Command): void {
  withConnection(command).addHelpText('after', example('unstuck status')).action(statusCommand)
}

interface TableStatus {
  table: string
  mode: ModeStatus
  health: Omit<TableHealth, 'queues'>
  ageRule: AgeRule
  pausedQueues: QueueStatus[]
  /** Jobs that are due while nothing holds them, and no worker claims them. */
  unhandled: UnhandledType[]
  /** Over the last 24 hours. */
  slo: Slo
  /** `isComplete` is false if only the newest were counted. */
  dead: { jobs: number; causes: number; isComplete: boolean }
  /** Workers that reported within the last hour, by state. */
  workers: Partial<Record<WorkerState, number>>
  fleet: Fleet
}

/** Shows the state of every table of the profile. Exit code 1 if a job is past its lease, or nobody sweeps. */
async function statusCommand(flags: ConnectionFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const tables: TableStatus[] = []
    for (const table of context.tables) tables.push(await readStatus(context, table))
    const breakers = valueOf(await listBreakers(context, undefined))
    const notClosed = breakers.filter(({ state }) => state !== 'closed')
    if (tables.some(({ health }) => hasProblem(health))) process.exitCode = exitCodes.problemFound
    const { schema, profile } = context.config
    if (flags.json === true) return printJson({ schema, profile, tables, breakers: notClosed })
    const now = await databaseNow(context)
    for (const status of tables) {
      const { table, mode, health, ageRule, pausedQueues, slo } = status
      printLine(`${table} · ${describeMode(mode, now)}`)
      printCounts(status)
      printHealth(health, ageRule)
      printWrapped(`  ${describeSlo(slo, health)}`, 4)
      for (const queue of pausedQueues) printWrapped(`  ◐ ${describePause(queue, now)}`, 4)
      for (const { queue, waiting, reason } of status.unhandled)
        printWrapped(`  ✗ queue ${queue}: ${waiting} waiting; ${reason}`, 4)
    }
    for (const breaker of notClosed) printWrapped(`◐ ${describeBreaker(breaker, now)}`, 2)
    const remedies = actsFor(tables, notClosed)
    if (remedies.length > 0) printLine()
    printRemedies(remedies)
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
    // A role that may not explain jobs sees the rest.
    unhandled: await findUnhandledTypes(store, isIdle).catch(() => []),
    slo: onlyOne(valueOf(await readSlo(context, input))),
    dead: await countDead(context, input),
    ...(await countWorkers(context, input)),
  }
}

const isIdle = ({ due, running, isPaused, breakerState }: QueueStatus) =>
  due > 0 && running === 0 && !isPaused && (breakerState ?? 'closed') === 'closed'

async function countDead(context: CliContext, input: { table: string }): Promise<TableStatus['dead']> {
  const { groups, isComplete } = valueOf(await listDeadLetters(context, { ...input, limit: 1_000 }))
  const jobs = groups.reduce((sum, { group }) => sum + group.jobs, 0)
  return { jobs, causes: groups.length, isComplete }
}

const HOUR_MS = 3_600_000

async function countWorkers(
  context: CliContext,
  input: { table: string },
): Promise<Pick<TableStatus, 'workers' | 'fleet'>> {
  const counts: TableStatus['workers'] = {}
  const workers = valueOf(await listWorkers(context, input)).map(({ value }) => value)
  for (const { state, seenMs } of workers) if (seenMs < HOUR_MS) counts[state] = (counts[state] ?? 0) + 1
  return { workers: counts, fleet: describeFleet(workers, nowOf(workers)) }
}

/** Stricter than the probe of GET /v1/health, which lets a sweep come first. */
function hasProblem(health: TableStatus['health']): boolean {
  const { isHealthy, overdue, holdReason, running, due, reaperAgeMs, sweepIntervalMs } = health
  if (!isHealthy || (overdue > 0 && holdReason === null)) return true
  return running + due > 0 && isReaperLate(reaperAgeMs, sweepIntervalMs)
}

function onlyOne<Value>(answers: { value: Value }[]): Value {
  const [answer] = answers
  if (answer === undefined) throw new UnstuckError('INTERNAL', 'no answer for a table')
  return answer.value
}

function describeMode({ mode, since }: ModeStatus, now: Date): string {
  const note = mode === 'observe' ? ': sweeps only record what they would do' : ''
  return `mode ${mode}${since === null ? '' : `, set ${showAgo(since, now)}`}${note}`
}

const states: readonly WorkerState[] = ['live', 'late', 'silent', 'zombie', 'draining', 'gone', 'stopped']

function printCounts({ health, dead, workers, fleet }: TableStatus): void {
  const { oldestOverdueMs, oldestDueMs } = health
  const known = states.filter((state) => (workers[state] ?? 0) > 0)
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
    [
      '  dead',
      `${dead.isComplete ? '' : '≥ '}${dead.jobs}`,
      dead.jobs === 0 ? '' : `${dead.causes} ${dead.causes === 1 ? 'cause' : 'causes'}: unstuck dead list`,
    ],
    [
      '  workers',
      String(fleet.workers),
      known.map((state) => `${workers[state]} ${state === 'gone' ? 'killed or lost' : state}`).join(', ') ||
        'none reported in the last hour',
    ],
  ])
  if (fleet.isDeploying) printWrapped(`  ◐ ${fleetText(fleet)}`, 4)
}

function printHealth(health: TableStatus['health'], ageRule: AgeRule): void {
  const { holdReason } = health
  if (health.hidden !== null) printWrapped(`  ${hiddenLine(health.hidden)}`, 4)
  if (health.unjudged > 0) printWrapped(`  ! ${describeUnjudged(health.unjudged, ageRule)}`, 4)
  if (holdReason !== null)
    printLine(`  ! the reaper holds leases that expired during an outage (${holdReason})`)
  printWrapped(`  ${describeSweeps(health)}`, 4)
}

/** `last sweep by a reaper 3 s ago`: not one by hand; where nobody sweeps, what starts it. Nothing is wrong with that while there is no work. */
function describeSweeps({ reaperAgeMs, sweepIntervalMs, running, due }: TableStatus['health']): string {
  const last =
    reaperAgeMs === null
      ? 'no reaper has swept yet'
      : `last sweep by a reaper ${showDuration(reaperAgeMs)} ago`
  if (!isReaperLate(reaperAgeMs, sweepIntervalMs)) return last
  const start = 'unstuck worker handlers.js, or unstuck reaper'
  return running + due > 0
    ? `✗ ${last}; to start one: ${start}`
    : `○ ${last}, and there is nothing to sweep; to start: ${start}`
}

export function describeUnjudged(count: number, ageRule: AgeRule): string {
  const { cause, remedy } = explainUnjudged(ageRule)
  return `${count} running without a lease, and ${cause}: ${remedy}`
}

/** The acts that end what the lines above name. */
function actsFor(tables: TableStatus[], breakers: Breaker[]): Remedy[] {
  return [
    ...tables.flatMap(({ mode, health }) => remediesOf({ ...health, isObserved: mode.mode === 'observe' })),
    ...tables.flatMap(({ pausedQueues }) => pausedQueues.map(({ queue }) => resumeQueue(queue))),
    ...tables.flatMap(({ unhandled }) => unhandled.map(startWorker)),
    ...breakers.map(({ name }) => resumeBreaker(name)),
  ]
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
    return `${sign} rescue last 24 h: none completed${waiting} — ${promise}`
  const times = `p50 ${showDuration(p50Ms)}, p95 ${showDuration(p95Ms)}, worst ${showDuration(worstMs)}`
  return `${sign} rescue last 24 h: ${rescued} rescued (${by})${late}${waiting}, ${times} — ${promise}`
}
