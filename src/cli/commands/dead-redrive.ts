import type { DeploymentTable } from '../../compose.ts'
import { exitCodes, invalidArgument, UnstuckError } from '../../errors/index.ts'
import { eachJob } from '../../runtime/each-job.ts'
import {
  type RedriveProgress,
  type RedriveReport,
  type RedriveStop,
  redriveJobs,
} from '../../runtime/redrive.ts'
import type { JobFilter, JobSummary } from '../../store/job-store.ts'
import { confirm } from '../confirm.ts'
import { findGroups } from '../find-groups.ts'
import type { ChangeFlags } from '../job-flags.ts'
import { printJson, printLine, printProgress } from '../output.ts'
import { withTables } from '../with-tables.ts'
import { refuse } from './jobs-change.ts'

interface RedriveFlags extends ChangeFlags {
  all?: boolean
  canary: number
  rate: number
  limit?: number
  expect?: number
  keepAttempts?: boolean
  yes?: boolean
}

interface Chosen {
  table: DeploymentTable
  jobs: Pick<JobSummary, 'id' | 'queue'>[]
}

/** Exit code 1 where it stopped by itself, 130 after Ctrl-C; what was brought back stays so. */
export async function redriveCommand(cause: string | undefined, flags: RedriveFlags): Promise<void> {
  if ((cause === undefined) === (flags.all !== true))
    throw invalidArgument('cause', cause, 'a cause, or --all')
  await withTables(flags, async (tables) => {
    const chosen = await choose(tables, cause, flags.limit)
    const count = chosen.reduce((sum, { jobs }) => sum + jobs.length, 0)
    if (count === 0) throw new UnstuckError('JOB_NOT_FOUND', 'no dead job to bring back')
    if (flags.expect !== undefined && flags.expect !== count) {
      const message = `${count} jobs match and ${flags.expect} were expected: nothing was changed`
      throw new UnstuckError('PRECONDITION_FAILED', message, { details: { count, expected: flags.expect } })
    }
    if (!(await confirm(planOf(count, flags), flags))) return refuse()
    const reports = await redriveAll(chosen, flags)
    if (reports.some(({ stopped }) => stopped !== null)) {
      const isInterrupted = reports.some(({ stopped }) => stopped === 'interrupted')
      process.exitCode = isInterrupted ? exitCodes.interrupted : exitCodes.problemFound
    }
    if (flags.json === true) return printJson({ tables: reports })
    for (const report of reports) printReport(report)
  })
}

/** The ids are chosen once, before anything is changed: what dies meanwhile is not part of it. */
async function choose(
  tables: DeploymentTable[],
  cause: string | undefined,
  limit: number | undefined,
): Promise<Chosen[]> {
  const filters: { table: DeploymentTable; filter: JobFilter }[] =
    cause === undefined
      ? tables.map((table) => ({ table, filter: { status: 'dead' } }))
      : (await findGroups(tables, cause)).map(({ table, group }) => {
          return { table, filter: { status: 'dead', causeId: group.causeId } }
        })
  const chosen: Chosen[] = []
  let left = limit ?? Number.POSITIVE_INFINITY
  for (const { table, filter } of filters) {
    const jobs: Chosen['jobs'] = []
    for await (const { id, queue } of eachJob(table.store, filter)) jobs.push({ id, queue })
    const oldest = jobs.toReversed().slice(0, left)
    left -= oldest.length
    if (oldest.length > 0) chosen.push({ table, jobs: oldest })
  }
  return chosen
}

function planOf(count: number, { canary, rate }: RedriveFlags): string {
  const first = canary > 0 ? `First ${canary}, then` : 'At'
  const seconds = Math.ceil(Math.max(0, count - canary) / rate)
  return (
    `${count} jobs match. ${first} ${rate}/s (about ${seconds} s); ` +
    'stops by itself if half of the first 20 fail or the breaker opens.'
  )
}

async function redriveAll(
  chosen: Chosen[],
  flags: RedriveFlags,
): Promise<({ table: string } & RedriveReport)[]> {
  const { actor, reason, canary, rate, keepAttempts = false } = flags
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  try {
    const reports: ({ table: string } & RedriveReport)[] = []
    for (const { table, jobs } of chosen) {
      const report = await redriveJobs(table.store, jobs, {
        actor,
        reason,
        canary,
        ratePerS: rate,
        keepAttempts,
        signal: stop.signal,
        onProgress: progressPrinter(table.name),
      })
      reports.push({ table: table.name, ...report })
      if (report.stopped !== null) break
    }
    return reports
  } finally {
    process.off('SIGINT', interrupt)
  }
}

/** On a terminal one line that is written over; elsewhere a line for each tenth. */
function progressPrinter(table: string): (progress: RedriveProgress) => void {
  let told = -1
  return (progress) => {
    const { phase, total, redriven, refused, succeeded, failed } = progress
    const done = redriven + refused
    const line = `${table}: ${phase === 'canary' ? 'canary' : `${done}/${total}`} · succeeded ${succeeded} · failed ${failed}`
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${line}   ${phase === 'rest' && done === total ? '\n' : ''}`)
      return
    }
    const tenth = phase === 'canary' ? 0 : 1 + Math.floor((10 * done) / total)
    if (tenth !== told) printProgress(line)
    told = tenth
  }
}

const stops: Record<RedriveStop, string> = {
  'canary-failed': 'the canary failed again',
  'canary-timeout': 'the canary did not end in time: does a worker run?',
  'too-many-failures': 'half of the first jobs failed again',
  'breaker-open': 'the breaker of a queue is open',
  interrupted: 'interrupted',
}

function printReport({ table, total, redriven, refused, stopped }: { table: string } & RedriveReport): void {
  const others = refused === 0 ? '' : `, ${refused} were not dead any more`
  printLine(`${table}: ${redriven} of ${total} jobs brought back${others}`)
  if (stopped !== null) printLine(`stopped: ${stops[stopped]}. The rest is as it was.`)
}
