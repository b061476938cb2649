import { type Command, Option } from 'commander'
import { type Deployment, type DeploymentTable, openDeployment } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { exitCodes, UnstuckError } from '../../errors/index.ts'
import { type Policy, withOverride } from '../../policy/policy.ts'
import { backoffMs, reapBackoff } from '../../policy/retry/backoff.ts'
import { startReaper } from '../../runtime/services/reaper.ts'
import { actorName } from '../connection/actor-name.ts'
import { loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { selectTables, type TableFlags } from '../connection/with-tables.ts'
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
/** Poll interval of an idle worker, as in `unstuck status`. */
const POLL_MS = 2_000

export function addDrill(program: Command): void {
  withConnection(program.command('drill'))
    .option('--table <name>', 'table of the profile; default: the first')
    .description(
      'tests the rescue: kills a canary worker and waits for its job to be requeued; exit code 1 if the rescue took longer than promised',
    )
    .option(
      '--budget <duration>',
      'limit from the kill to completion: 30s, 10m; default: the promise of the settings',
      readDuration,
    )
    .addOption(
      new Option('--lease <duration>', 'lease of the canary')
        .argParser(readDuration)
        .default(DEFAULT_LEASE_MS, '3s'),
    )
    .option('--sweep', 'also run sweeps, as unstuck reaper does; they requeue other stuck jobs too')
    .option('--yes', 'do not ask before using an attached table')
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
    throw new UnstuckError('INTERRUPTED', 'interrupted; the canary was deleted', { cause: error })
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
      onStep: (line) => {
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

/** In observe mode sweeps change nothing: there is no rescue to test. */
async function requireSweeps({ name, store }: DeploymentTable): Promise<void> {
  const { mode } = await store.readMode()
  if (mode !== 'observe') return
  throw new UnstuckError('PRECONDITION_FAILED', `${name} is in observe mode: no job is requeued`, {
    hint: 'unstuck mode reap',
  })
}

const attachedWarning = ({ name }: DeploymentTable) =>
  `${name} is attached: a worker that does not use unstuck may claim the canary as one of its own jobs.`

/** The promise for this canary; it includes the backoff of real jobs. */
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
  if (holdReason !== null) return `The reaper holds leases that expired during an outage (${holdReason}).`
  const start = 'start a worker, or unstuck reaper; --sweep sweeps here'
  if (reaperAgeMs === null) return `No sweep has run yet: ${start}.`
  const last = `The last sweep was ${showDuration(reaperAgeMs)} ago`
  if (reaperAgeMs > sweepIntervalMs) return `${last}: ${start}.`
  return `${last}, and they run every ${showDuration(sweepIntervalMs)}: the budget is too short for one.`
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
