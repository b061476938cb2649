import { type Command, InvalidArgumentError, Option } from 'commander'
import { actorName } from '../../commands/actor-name.ts'
import { type Deployment, type DeploymentTable, openDeployment } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { exitCodes, UnstuckError } from '../../errors/index.ts'
import { LEAST_GRACE_MS, LOOK_MS } from '../../policy/lease/presence-times.ts'
import { type Policy, withOverride } from '../../policy/policy.ts'
import { backoffMs, reapBackoff } from '../../policy/retry/backoff.ts'
import { startReaper } from '../../runtime/services/reaper.ts'
import { workerName } from '../../runtime/worker/process-name.ts'
import { loadOneShard } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { selectTables, type TableFlags } from '../connection/with-tables.ts'
import { refuse } from '../jobs/jobs-change.ts'
import { confirm } from '../terminal/confirm.ts'
import { readDuration, showBound, showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'
import { openProgressLine } from '../terminal/progress-line.ts'
import { clearOldCanaries } from './clear-canary.ts'
import { type KillDrillOptions, type KillReport, runKillDrill } from './kill-drill.ts'
import { type DrillReport, runDrill, seconds } from './run-drill.ts'

interface DrillFlags extends TableFlags {
  budget?: number
  lease: number
  sweep?: boolean
  times: number
  jobs: number
  yes?: boolean
}

const DEFAULT_LEASE_MS = 3_000
/** Poll interval of an idle worker, as in `unstuck status`. */
const POLL_MS = 2_000
/** A reaper that sees its first worker starts to watch after its next sweep. */
const WATCH_START_MS = 3_000
const MOST = 1_000

const nothingKilled = { isPassed: true, failure: null, rescues: [], medianMs: null, worstMs: null }

export function defineDrill(command: Command): void {
  withConnection(command)
    .option('--table <name>', 'table of the profile; default: the first')
    .option(
      '--budget <duration>',
      'limit of each rescue: 30s, 10m; default: the promise of the settings',
      readDuration,
    )
    .addOption(
      new Option('--lease <duration>', 'lease of the canary that freezes')
        .argParser(readDuration)
        .default(DEFAULT_LEASE_MS, '3s'),
    )
    .addOption(new Option('--times <count>', 'number of kills').argParser(readCount).default(1))
    .addOption(
      new Option('--jobs <count>', 'jobs that each killed worker holds').argParser(readCount).default(1),
    )
    .option('--sweep', 'also run sweeps, as unstuck reaper does; they requeue other stuck jobs too')
    .option('--yes', 'do not ask before using an attached table')
    .addHelpText('after', example('unstuck drill --budget 30s'))
    .action(drillCommand)
}

async function drillCommand(flags: DrillFlags): Promise<void> {
  const config = loadOneShard(flags)
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
  const isJson = flags.json === true
  const reaper = flags.sweep === true ? sweepHere(table, config, policy) : undefined
  const progress = openProgressLine()
  const workerId = workerName('canary-1')
  const parts = {
    table,
    databaseUrl: config.databaseUrl ?? '',
    schema: config.schema,
    presenceUrl: policy.presence === 'off' ? null : (config.directUrl ?? config.databaseUrl),
    workerId,
    actor,
    signal,
    onStep: (line: string) => {
      progress.clear()
      if (!isJson) printLine(`  ${line}`)
    },
  }
  try {
    const killed = await drillKill(parts, policy, flags)
    const frozen = await drillFreeze(parts, policy, flags, (text) => progress.show(text))
    progress.clear()
    const isPassed = frozen.report.isPassed && killed.isPassed
    if (!isPassed) process.exitCode = exitCodes.problemFound
    if (!isJson) return
    const { totalMs: promiseMs, text: _, ...promiseParts } = frozen.promise
    printJson({
      table: table.name,
      ...frozen.report,
      isPassed,
      failure: killed.failure ?? frozen.report.failure,
      hint: frozen.hint,
      budgetMs: frozen.budgetMs,
      promiseMs,
      ...promiseParts,
      leaseMs: flags.lease,
      killed,
    })
  } finally {
    if (parts.presenceUrl !== null) await recordEnd(table, workerId)
    await reaper?.stop()
  }
}

/** Otherwise the canary would be listed as gone. */
async function recordEnd({ store }: DeploymentTable, workerId: string): Promise<void> {
  const ended = { types: [], concurrency: 0, running: 0, reportMs: 15_000 }
  await store.reportWorker({ workerId, phase: 'stopped', ...ended }).catch(() => {})
}

type Parts = Omit<
  KillDrillOptions,
  'presenceUrl' | 'leaseMs' | 'times' | 'jobs' | 'budgetMs' | 'watchLimitMs'
> & {
  presenceUrl: string | null
}

async function drillKill(
  { presenceUrl, ...parts }: Parts,
  policy: Policy,
  flags: DrillFlags,
): Promise<KillReport & { budgetMs: number; promiseMs: number }> {
  const isJson = flags.json === true
  const promise = killPromiseOf(policy, flags.jobs)
  const budgetMs = flags.budget ?? promise.totalMs
  const { times, jobs } = flags
  const leaseMs = policy.defaultLeaseMs
  const watchLimitMs = policy.sweepIntervalMs + WATCH_START_MS
  if (presenceUrl === null) {
    const skipped = 'presence is off by the policy'
    if (!isJson) printLine(`killed worker: skipped, because ${skipped}: leases decide`)
    return { ...nothingKilled, skipped, budgetMs, promiseMs: promise.totalMs }
  }
  if (!isJson) printLine(`killed worker: ${promise.text}`)
  const report = await runKillDrill({ ...parts, presenceUrl, leaseMs, times, jobs, budgetMs, watchLimitMs })
  if (!isJson) printKill(report, budgetMs)
  return { ...report, budgetMs, promiseMs: promise.totalMs }
}

function printKill({ skipped, failure, medianMs, worstMs, rescues }: KillReport, budgetMs: number): void {
  if (skipped !== null) return printLine(`  skipped: ${skipped}, so leases decide`)
  if (failure !== null) return printLine([['FAIL', 'red'], `  ${failure}`])
  const [median, worst] = [seconds(medianMs ?? 0), seconds(worstMs ?? 0)]
  const times = rescues.length === 1 ? worst : `${rescues.length} rescues, median ${median}, worst ${worst}`
  printLine([['PASS', 'green'], `  ${times} ≤ ${seconds(budgetMs)}`])
}

async function drillFreeze(
  parts: Parts,
  policy: Policy,
  flags: DrillFlags,
  showProgress: (text: string) => void,
) {
  const { table } = parts
  const promise = promiseOf(policy, flags.lease)
  const budgetMs = flags.budget ?? promise.totalMs
  const isJson = flags.json === true
  if (!isJson) {
    printLine(`frozen worker: ${promise.text}`)
    if (budgetMs < promise.totalMs)
      printLine(`! the budget of ${showDuration(budgetMs)} is shorter than that`)
  }
  const report = await runDrill({
    ...parts,
    leaseMs: flags.lease,
    budgetMs,
    onWait: (waitedMs) => showProgress(`  waiting for a sweep: ${seconds(waitedMs)} of ${seconds(budgetMs)}`),
  })
  const hint = report.reapedAfterMs === null ? await describeReaper(table, policy) : null
  if (!isJson) printVerdict(report, budgetMs, promise.totalMs, hint)
  return { report, promise, budgetMs, hint }
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

/** The promise for the job of a killed worker. Jobs that ended together are spread over one more backoff. */
function killPromiseOf(policy: Policy, jobs: number) {
  const backoff = backoffMs(reapBackoff(policy), 1, 0)
  const spread = jobs > 1 && policy.requeueRatePerS > 0 ? backoff : 0
  const totalMs = LOOK_MS + LEAST_GRACE_MS + backoff + spread + POLL_MS
  const parts = [
    `look ${showDuration(LOOK_MS)}`,
    `grace ${showDuration(LEAST_GRACE_MS)}`,
    `backoff ${showDuration(backoff + spread)}`,
    `poll ${showDuration(POLL_MS)}`,
  ]
  const lease = `the lease is ${showDuration(policy.defaultLeaseMs)}`
  return { totalMs, text: `promise ≤ ${showBound(totalMs)} (${parts.join(' + ')}); ${lease}` }
}

function sweepHere({ name, store, presence }: DeploymentTable, config: Config, { sweepIntervalMs }: Policy) {
  return startReaper({
    tables: [{ name, store, ...(presence === undefined ? {} : { presence }) }],
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

function readCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= MOST) return count
  throw new InvalidArgumentError(`Must be a whole number from 1 to ${MOST}.`)
}
