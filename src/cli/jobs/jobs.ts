import { type Command, Option } from 'commander'
import { readEvents } from '../../commands/jobs/job-commands.ts'
import { invalidArgument } from '../../errors/index.ts'
import type { JobEvent } from '../../job/event.ts'
import type { Job } from '../../job/job.ts'
import { showProgress } from '../../job/show-progress.ts'
import { showDuration } from '../../policy/explain/show-duration.ts'
import type { JobPage, JobSummary } from '../../store/job-store.ts'
import { databaseNow, valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { showAgo, showTime } from '../terminal/duration.ts'
import { safeJson } from '../terminal/escape-controls.ts'
import { printJson, printLine, printLines, printTable, printWrapped, writeOut } from '../terminal/output.ts'
import { eachJob, fillPage } from './each-job.ts'
import { csvHead, csvRow, type ExportFormat, exportedJob, exportFormats } from './export-jobs.ts'
import { findJob } from './find-job.ts'
import {
  type FilterFlags,
  filterOf,
  readCount,
  withFilter,
  withReason,
  withTable,
  withWhere,
} from './job-flags.ts'
import { cancelCommand, discardCommand, retryCommand } from './jobs-change.ts'
import { eventWithoutLease, withoutLease } from './without-lease.ts'

interface ListFlags extends FilterFlags {
  limit: number
  cursor?: string
}

interface ExportFlags extends FilterFlags {
  format: ExportFormat
  payload?: boolean
  limit?: number
}

export function defineJobs(jobs: Command): void {
  withFilter(withConnection(jobs.command('list')))
    .description('lists matching jobs, newest first')
    .option('--limit <jobs>', 'maximum per table, 1 to 1000', readCount, 50)
    .option('--cursor <id>', 'continue after this cursor')
    .addHelpText('after', example('unstuck jobs list --where "status:dead older:2h" --limit 20'))
    .action(listCommand)
  withTable(withConnection(jobs.command('get')))
    .description('shows one job and its events')
    .argument('<id>', 'job id, or a prefix of it')
    .option('--payload', 'include payload and result')
    .addHelpText('after', example('unstuck jobs get 0190a1b2c3d4'))
    .action(getCommand)
  withFilter(withConnection(jobs.command('export'), 'one JSON object per line, the default'))
    .description('exports jobs, one per line; secrets are redacted as in the HTTP API')
    .addOption(new Option('--format <format>', 'output format').choices(exportFormats).default('ndjson'))
    .option('--payload', 'include payload and result')
    .option('--limit <jobs>', 'maximum per table', readCount)
    .addHelpText('after', example('unstuck jobs export --status dead --format csv > dead.csv'))
    .action(exportCommand)
  addChanges(jobs)
}

function addChanges(jobs: Command): void {
  withWhere(withReason(withConnection(jobs.command('retry'))))
    .description('retries dead jobs; exit code 4 if a job is not dead')
    .option('--keep-attempts', 'keep the attempt count and raise the maximum instead')
    .option('--now', 'also make waiting jobs due now; with --where, only those')
    .addHelpText('after', example('unstuck jobs retry 0190a1b2c3d4 --reason "gateway fixed"'))
    .action(retryCommand)
  withWhere(withReason(withConnection(jobs.command('cancel'))))
    .description('cancels waiting jobs, and asks running ones to stop')
    .addHelpText('after', example('unstuck jobs cancel 0190a1b2c3d4 --reason "wrong file"'))
    .action(cancelCommand)
  withWhere(withReason(withConnection(jobs.command('discard'))))
    .description('deletes waiting or finished jobs; exit code 4 if a job is running')
    .addHelpText('after', example('unstuck jobs discard 0190a1b2c3d4 --reason "test data" --yes'))
    .action(discardCommand)
}

async function listCommand(flags: ListFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { limit, cursor } = flags
    if (limit < 1 || limit > 1000) throw invalidArgument('limit', limit, 'a whole number from 1 to 1000')
    if (cursor !== undefined && context.tables.length > 1)
      throw invalidArgument('cursor', cursor, 'used together with --table')
    const pages: ({ table: string } & JobPage)[] = []
    for (const { name: table } of context.tables) {
      const input = { table, filter: filterOf(flags), limit, cursor }
      pages.push({ table, ...(await fillPage(context, input)) })
    }
    if (flags.json === true)
      return printJson({ tables: pages.map((page) => ({ ...page, jobs: page.jobs.map(withoutLease) })) })
    const listed = pages.flatMap(({ table, jobs }) => jobs.map((job) => ({ table, job })))
    if (listed.length > 0) printJobs(listed, await databaseNow(context))
    else if (pages.every(({ next }) => next === null)) printLine('no matching jobs')
    for (const { table, next, searchedTo, jobs } of pages) {
      if (next === null) continue
      if (jobs.length < limit && searchedTo !== null)
        printLine(`${table}: searched back to ${showTime(searchedTo)}, older jobs not yet`)
      printLine(`More:  --table ${table} --cursor ${next}`)
    }
  })
}

export function printJobs(listed: { table: string; job: JobSummary }[], now: Date): void {
  const rows = listed.map(({ table, job }) => [
    table,
    job.id,
    job.type,
    job.status,
    String(job.attempt),
    showAgo(job.createdAt, now),
    detailOf(job, now),
  ])
  printTable([['TABLE', 'JOB', 'TYPE', 'STATUS', 'ATTEMPT', 'CREATED', ''], ...rows], {
    whole: ['JOB', 'STATUS', 'CREATED'],
    spare: ['ATTEMPT', 'TABLE', 'CREATED'],
  })
}

/** The detail that matters in this status. */
function detailOf(job: JobSummary, now: Date): string {
  const { status, workerId, leaseLeftMs, runAt, error, progress } = job
  if (status === 'running') {
    const reported = progress === null ? '' : `, ${oneLine(showProgress(progress))}`
    if (leaseLeftMs === null) return `on ${workerId ?? 'an unnamed worker'}, no lease${reported}`
    const left = showDuration(Math.abs(leaseLeftMs))
    return `on ${workerId ?? 'an unnamed worker'}, lease ${leaseLeftMs < 0 ? `expired ${left} ago` : `${left} left`}${reported}`
  }
  const why = [error?.code, error?.reason].filter((part) => part !== null && part !== undefined).join(': ')
  if (status === 'waiting' && runAt !== null)
    return `${runAt > now ? 'runs' : 'due'} ${showAgo(runAt, now)}${why === '' ? '' : `, ${why}`}`
  return oneLine(why)
}

const oneLine = (text: string) => {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

async function getCommand(prefix: string, flags: TableFlags & { payload?: boolean }): Promise<void> {
  await withCommands(flags, async (context) => {
    const { table, jobId } = await findJob(context.tables, prefix)
    const ref = { id: jobId, table: table.name }
    const { job, events: found } = valueOf(await readEvents(context, ref))
    const shown = withoutLease(flags.payload === true ? job : withoutPayload(job))
    const events = found.map(eventWithoutLease)
    if (flags.json === true) return printJson({ table: table.name, job: shown, events })
    const now = process.stdout.isTTY ? await databaseNow(context) : null
    printFields(table.name, shown, now)
    printStory(events, now)
  })
}

function withoutPayload(job: Job): Partial<Job> {
  const hidden = ['payload', 'result']
  return Object.fromEntries(Object.entries(job).filter(([name]) => !hidden.includes(name)))
}

function printFields(table: string, { error, progress, ...fields }: Partial<Job>, now: Date | null): void {
  const about = {
    progress: progress == null ? null : showProgress(progress),
    errorCode: error?.code ?? null,
    errorReason: error?.reason ?? null,
    errorCategory: error?.category ?? null,
    errorAttempt: error?.attempt ?? null,
  }
  const rows = Object.entries({ table, ...fields, ...about }).map(([name, value]) => [
    name,
    value instanceof Date && now !== null ? `${showAgo(value, now)} (${showTime(value)})` : showField(value),
  ])
  printTable(rows.filter((row): row is [string, string] => row[1] !== null))
  if (error?.stack != null) printLines(`\n${error.stack}`)
}

function showField(value: unknown): string | null {
  if (value === null) return null
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A pipe gets exact times, a terminal relative ones, and lines that fit it. */
function printStory(events: JobEvent[], now: Date | null): void {
  if (events.length === 0) return
  printLine()
  const times = events.map(({ at }) => (now === null ? at.toISOString() : showAgo(at, now)))
  const [timeWidth, typeWidth] = [times, events.map(({ type }) => type)].map((texts) =>
    Math.max(...texts.map((text) => text.length)),
  ) as [number, number]
  events.forEach(({ type, data }, nth) => {
    const facts = Object.entries(data.details).filter(([, value]) => value !== null)
    const text = facts.map(([name, value]) => `${name} ${showField(value) ?? ''}`).join(' · ')
    const head = `${times[nth]?.padEnd(timeWidth)}  ${type.padEnd(typeWidth)}  `
    printWrapped(`${head}${text}`, timeWidth + 2)
  })
}

async function exportCommand(flags: ExportFlags): Promise<void> {
  const withPayload = flags.payload === true
  const isCsv = flags.format === 'csv'
  if (isCsv && flags.json === true)
    throw invalidArgument('--format', flags.format, 'not together with --json')
  await withCommands(flags, async (context) => {
    const options = { withPayload, ...(flags.limit === undefined ? {} : { limit: flags.limit }) }
    // Only after the database answered: an error must not leave a CSV head behind.
    let head = isCsv ? csvHead(withPayload) : ''
    for (const { name: table } of context.tables) {
      for await (const job of eachJob(context, { table, filter: filterOf(flags), ...options })) {
        const exported = exportedJob(table, job)
        const line = isCsv ? csvRow(exported, withPayload) : `${safeJson(exported)}\n`
        await writeOut(head + line)
        head = ''
      }
    }
    if (head !== '') await writeOut(head)
  })
}
