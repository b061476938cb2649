import { type Command, Option } from 'commander'
import { type Deployment, type DeploymentTable, openDeployment } from '../../compose.ts'
import type { Config } from '../../config/index.ts'
import { exitCodes, UnstuckError } from '../../errors/index.ts'
import { backoffMs, reapBackoff } from '../../policy/backoff.ts'
import { type Policy, withOverride } from '../../policy/policy.ts'
import { startReaper } from '../../runtime/reaper.ts'
import { actorName } from '../connection/actor-name.ts'
import { loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { selectTables, type TableFlags } from '../connection/with-tables.ts'
import { withTable } from '../jobs/job-flags.ts'
import { refuse } from '../jobs/jobs-change.ts'
import { confirm } from '../terminal/confirm.ts'
import { readDuration, showBound, showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'
import { openProgressLine } from '../terminal/progress-line.ts'
import { clearOldCanaries } from './clear-canary.ts'
import { type DrillReport, runDrill } from './run-drill.ts'

interface DrillFlags extends TableFlags {
  budget?: number
  lease: number
  sweep?: boolean
  yes?: boolean
}

const DEFAULT_LEASE_MS = 3_000
/** How long a worker with a free slot takes to look for work, as in `unstuck status`. */
const POLL_MS = 2_000

export function addDrill(program: Command): void {
  withTable(withConnection(program.command('drill')))
    .description(
      'proves the rescue here: kills a canary worker and watches its job come back; exit code 1 where it does not in time',
    )
    .option(
      '--budget <duration>',
      'from the kill to the end: 30s, 10m; what the settings promise where absent',
      readDuration,
    )
    .addOption(
      new Option('--lease <duration>', 'of the canary, shorter than those of real jobs')
        .argParser(readDuration)
        .default(DEFAULT_LEASE_MS, '3s'),
    )
    .option(
      '--sweep',
      'sweep here too, as unstuck reaper does: it takes back other jobs past their lease as well',
    )
    .option('--yes', 'do not ask before a table that is attached')
    .addHelpText('after', example('unstuck drill --budget 30s'))
    .action(drillCommand)
}

async function drillCommand(flags: DrillFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const deployment = openDeployment(config)
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  try {
    await drill(deployment, config, flags, stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    throw new UnstuckError('INTERRUPTED', 'interrupted; the canary was taken out', { cause: error })
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    await deployment.close()
  }
}

async function drill(
  deployment: Deployment,
  config: Config,
  flags: DrillFlags,
  signal: AbortSignal,
): Promise<void> {
  const [table] = selectTables(deployment, flags)
  const policy = withOverride(await table.store.readPolicy(), config.policy)
  await requireSweeps(table)
  if (table.table.attachment !== 'native' && !(await confirm(attachedWarning(table), flags))) return refuse()
  const actor = actorName()
  await clearOldCanaries(table.store, actor)
  const promise = promiseOf(policy, flags.lease)
  const budgetMs = flags.budget ?? promise.totalMs
  const isJson = flags.json === true
  if (!isJson) {
    printLine(`${table.name}: ${promise.text}`)
    if (budgetMs < promise.totalMs)
      printLine(`! the budget of ${showDuration(budgetMs)} is shorter than that`)
  }
  const reaper = flags.sweep === true ? sweepHere(table, config, policy) : undefined
  const progress = openProgressLine()
  try {
    const report = await runDrill({
      table,
      databaseUrl: config.databaseUrl ?? '',
      schema: config.schema,
      leaseMs: flags.lease,
      budgetMs,
      actor,
      signal,
      tell: (line) => {
        progress.clear()
        if (!isJson) printLine(`  ${line}`)
      },
      onWait: (waitedMs) =>
        progress.show(`  waiting for a sweep: ${seconds(waitedMs)} of ${seconds(budgetMs)}`),
    })
    progress.clear()
    if (!report.isPassed) process.exitCode = exitCodes.problemFound
    const hint = report.reapedAfterMs === null ? await describeReaper(table, policy) : null
    if (isJson) {
      const { totalMs: promiseMs, text: _, ...parts } = promise
      return printJson({
        table: table.name,
        ...report,
        hint,
        budgetMs,
        promiseMs,
        ...parts,
        leaseMs: flags.lease,
      })
    }
    printVerdict(report, budgetMs, promise.totalMs, hint)
  } finally {
    await reaper?.stop()
  }
}

/** In mode observe sweeps touch nothing, so there is no rescue to prove. */
async function requireSweeps({ name, store }: DeploymentTable): Promise<void> {
  const { mode } = await store.readMode()
  if (mode !== 'observe') return
  throw new UnstuckError('PRECONDITION_FAILED', `${name} is in mode observe: no job is taken back there`, {
    hint: 'unstuck mode reap',
  })
}

const attachedWarning = ({ name }: DeploymentTable) =>
  `${name} is attached: a worker that claims without unstuck would take the canary for one of its own jobs.`

/** What the settings promise for this canary; the backoff of real jobs is part of it. */
function promiseOf(policy: Policy, leaseMs: number) {
  const { sweepIntervalMs } = policy
  const backoff = backoffMs(reapBackoff(policy), 1, 0)
  const totalMs = leaseMs + sweepIntervalMs + backoff + POLL_MS
  const parts = [
    `lease ${showDuration(leaseMs)}`,
    `sweep ${showDuration(sweepIntervalMs)}`,
    `backoff ${showDuration(backoff)}`,
    `poll ${showDuration(POLL_MS)}`,
  ]
  const real = `Real jobs have a lease of ${showDuration(policy.defaultLeaseMs)}.`
  const text = `promise ≤ ${showBound(totalMs)} (${parts.join(' + ')}). ${real}`
  return { totalMs, sweepIntervalMs, backoffMs: backoff, pollMs: POLL_MS, text }
}

function sweepHere({ name, store }: DeploymentTable, config: Config, { sweepIntervalMs }: Policy) {
  return startReaper({
    tables: [{ name, store }],
    intervalMs: sweepIntervalMs,
    policy: config.policy,
    onError: (_, error) =>
      printProgress(`unstuck: sweep failed: ${error instanceof Error ? error.message : String(error)}`),
  })
}

async function describeReaper({ store }: DeploymentTable, { sweepIntervalMs }: Policy): Promise<string> {
  const { reaperAgeMs, holdReason } = await store.readHealth()
  if (holdReason !== null) return `The reaper holds leases that ended in an outage (${holdReason}).`
  const start = 'start a worker, or unstuck reaper; --sweep sweeps here'
  if (reaperAgeMs === null) return `Nobody has swept yet: ${start}.`
  const last = `The last sweep was ${showDuration(reaperAgeMs)} ago`
  if (reaperAgeMs > sweepIntervalMs) return `${last}: ${start}.`
  return `${last}, and they come every ${showDuration(sweepIntervalMs)}: the budget leaves no room for one.`
}

function printVerdict(report: DrillReport, budgetMs: number, promiseMs: number, hint: string | null): void {
  const { isPassed, failure, finishedAfterMs } = report
  if (!isPassed || finishedAfterMs === null) {
    printLine([['FAIL', 'red'], `  ${failure ?? ''}`])
    if (hint !== null) printLine(`      ${hint}`)
    return
  }
  const late = finishedAfterMs > promiseMs ? `, but the settings promise ${seconds(promiseMs)}` : ''
  printLine([['PASS', 'green'], `  ${seconds(finishedAfterMs)} ≤ ${seconds(budgetMs)}${late}`])
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
