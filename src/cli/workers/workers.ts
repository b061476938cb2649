import type { Command } from 'commander'
import { drainWorker, listWorkers } from '../../commands/worker-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import { drainWorker as drainWorkerRemedy } from '../../policy/explain/remedy.ts'
import { describeFleet, fleetText } from '../../policy/fleet/fleet.ts'
import type { WorkerState, WorkerStatus } from '../../store/job-store.ts'
import { valueOf, withCommands, withTableNames } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { type ChangeFlags, withReason, withTable } from '../jobs/job-flags.ts'
import { showDuration } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface ListFlags extends TableFlags {
  all?: boolean
}

const HOUR_MS = 3_600_000
const ended: readonly WorkerState[] = ['gone', 'stopped']

export function defineWorkers(workers: Command): void {
  withTable(withConnection(workers.command('list')))
    .description(
      'lists workers with their state and job types; exit code 1 if a worker is silent or a zombie',
    )
    .option('--all', 'include workers that stopped more than an hour ago')
    .addHelpText('after', example('unstuck workers list'))
    .action(listCommand)
  withReason(withConnection(workers.command('drain')))
    .description('drains a worker: it stops claiming, finishes its running jobs and stops')
    .argument('<worker>', 'worker id')
    .addHelpText('after', example('unstuck workers drain alpha:4121:9f3c11d2 --reason "new host"'))
    .action(drainCommand)
}

async function listCommand(flags: ListFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const workers = withTableNames(valueOf(await listWorkers(context, {})))
    const isShown = ({ state, seenMs }: WorkerStatus) =>
      flags.all === true || seenMs < HOUR_MS || !ended.includes(state)
    const shown = workers.filter(isShown)
    if (shown.some(({ state }) => state === 'silent' || state === 'zombie'))
      process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ workers: shown })
    if (shown.length === 0) return printLine('no worker has reported in the last hour')
    const rows = [
      ['TABLE', 'WORKER', 'STATE', 'PRESENCE', 'SEEN', 'RUNNING', 'LAG', 'APP', 'VERSION', 'TYPES'],
      ...shown.map((worker) => [
        worker.table,
        worker.workerId,
        describeState(worker),
        worker.presence,
        `${showDuration(worker.seenMs)} ago`,
        `${worker.running}/${worker.concurrency}`,
        worker.loopLagMs === null ? '–' : showDuration(worker.loopLagMs),
        worker.appVersion ?? '–',
        worker.version ?? '–',
        worker.types.join(' '),
      ]),
    ]
    printTable(rows, { whole: ['WORKER'], spare: ['LAG', 'PRESENCE', 'VERSION', 'TABLE', 'APP', 'TYPES'] })
    const fleet = fleetText(describeFleet(workers, nowOf(workers)))
    if (fleet !== null) printLine(fleet)
    for (const { workerId } of shown.filter(({ state }) => state === 'zombie'))
      printLine(`Next:  ${drainWorkerRemedy(workerId).command}`)
  })
}

/** The database's clock, from which all times are. */
export function nowOf(workers: Pick<WorkerStatus, 'seenAt' | 'seenMs'>[]): number {
  const [first] = workers
  return first === undefined ? 0 : first.seenAt.getTime() + first.seenMs
}

function describeState({
  state,
  leases,
  exitCode,
  drainRequestedAt,
  drainRequestedBy,
}: WorkerStatus): string {
  if (state === 'silent') return `silent, holds ${leases} ${leases === 1 ? 'job' : 'jobs'}`
  if (state === 'gone') return 'killed or lost'
  if (state === 'zombie') return 'zombie, a job is past its deadline'
  if (state === 'stopped') return exitCode === null ? state : `stopped with ${exitCode}`
  if (drainRequestedAt !== null && state === 'draining')
    return `draining, drain requested by ${drainRequestedBy ?? 'someone'}`
  return state
}

async function drainCommand(workerId: string, flags: ChangeFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { outcome, table } = valueOf(await drainWorker(context, { workerId, reason: flags.reason }))
    if (flags.json === true) return printJson({ workerId, outcome, table })
    const answer =
      outcome === 'asked' ? 'will drain: it finishes its running jobs and stops' : 'is already draining'
    printLine(`worker ${workerId} ${answer}`)
  })
}
