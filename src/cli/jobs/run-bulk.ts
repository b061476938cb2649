// A bulk change from the command line: planned, confirmed, then run in the foreground. The operation is in the database: a
// server continues it if this process dies. Ctrl-C stops it; changed jobs stay changed.
import { discardJob } from '../../commands/jobs/job-commands.ts'
import {
  abortOperation,
  beginOperation,
  isContradicted,
  isLowerBound,
  type OperationInput,
  planOperation,
} from '../../commands/jobs/operation-commands.ts'
import { shardTables } from '../../commands/shard-tables.ts'
import { exitCodes, UnstuckError } from '../../errors/index.ts'
import { showCount } from '../../policy/explain/show-count.ts'
import type { OperationStop } from '../../policy/operation-move.ts'
import { runOperation } from '../../runtime/operations/run-operation.ts'
import { hasCapability } from '../../store/capability.ts'
import type { JobSummary, Operation } from '../../store/job-store.ts'
import { COUNT_LIMIT } from '../../store/ports/call-options.ts'
import { MAX_OPERATION_JOBS, type PlannedTotal } from '../../store/ports/operation-store.ts'
import { type CliContext, valueOf } from '../connection/with-commands.ts'
import { confirm } from '../terminal/confirm.ts'
import { escapeControls } from '../terminal/escape-controls.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'
import { eachJob } from './each-job.ts'
import type { ChangeFlags } from './job-flags.ts'

export interface BulkFlags extends ChangeFlags {
  limit?: number
  expect?: number
  dryRun?: boolean
  yes?: boolean
}

export type BulkRequest = OperationInput & { table: string }

export interface BulkWords {
  /** The question, or the output of a dry run; `count` is the total as shown. */
  planOf: (count: string, plan: PlannedTotal) => string
  /** `3 of 4 jobs retried`. */
  done: string
  /** `, 1 were no longer dead`. */
  refused: string
  /** The error if no job matches. */
  none: string
}

/** `operationId` is null if the store has no operations. */
type Report = { table: string; operationId: string | null } & Pick<
  Operation,
  'total' | 'changed' | 'refused' | 'succeeded' | 'failed' | 'stopped'
>

const LEASE_MS = 30_000

/** Exit code 1 if it stopped by itself, 130 after Ctrl-C. */
export async function runBulk(
  context: CliContext,
  requests: BulkRequest[],
  flags: BulkFlags,
  words: BulkWords,
): Promise<void> {
  const planned = await plan(context, requests, flags)
  const whole = sumOf(planned)
  const { expect, dryRun, json } = flags
  refuseUnexpected(planned, whole, flags)
  if (dryRun === true) {
    const tables = planned.map(({ request: { table }, total, atLeast }) => ({ table, total, atLeast }))
    const { total: count, atLeast } = whole
    return json === true ? printJson({ dryRun, count, atLeast, tables }) : printLine(describe(whole, words))
  }
  if (planned.length === 0) throw new UnstuckError('JOB_NOT_FOUND', words.none)
  if (!(await confirm(describe(whole, words), flags))) {
    printLine('nothing was changed')
    process.exitCode = exitCodes.refused
    return
  }
  const reports = await runAll(context, planned, { limit: flags.limit, expect })
  const stops = reports.map(({ stopped }) => stopped).filter((stopped) => stopped !== null)
  if (stops.length > 0)
    process.exitCode = stops.includes('interrupted') ? exitCodes.interrupted : exitCodes.problemFound
  if (json === true) return printJson({ tables: reports })
  for (const report of reports) printReport(report, words)
}

function sumOf(planned: PlannedTotal[]): PlannedTotal {
  const total = planned.reduce((sum, each) => sum + each.total, 0)
  return { total, atLeast: planned.some(isLowerBound) ? ['total'] : [] }
}

function describe(plan: PlannedTotal, words: BulkWords): string {
  const text = words.planOf(showCount(plan, 'total'), plan)
  if (!isLowerBound(plan)) return text
  return `${text} Counted in the newest ${COUNT_LIMIT.toLocaleString('en')} jobs; older ones may match too.`
}

/** The number of one table that is not known is left to the operation itself. */
function refuseUnexpected(planned: PlannedTotal[], whole: PlannedTotal, { expect, dryRun }: BulkFlags): void {
  if (expect === undefined) return
  const isUnknown = isLowerBound(whole) && planned.length > 1 && dryRun !== true
  if (!isContradicted(whole, expect) && !isUnknown) return
  const { total: count } = whole
  const message = `${showCount(whole, 'total')} jobs match, expected ${expect}: nothing was changed`
  throw new UnstuckError('PRECONDITION_FAILED', message, { details: { count, expected: expect } })
}

interface PlannedRequest extends PlannedTotal {
  request: BulkRequest
  /** The chosen jobs, if the store has no operations to keep them. */
  jobs?: JobSummary[]
}

/** The limit applies to all tables together. */
async function plan(
  context: CliContext,
  requests: BulkRequest[],
  { limit }: BulkFlags,
): Promise<PlannedRequest[]> {
  const planned: PlannedRequest[] = []
  let left = limit
  for (const request of requests) {
    if (left === 0) break
    const limited = left === undefined ? request : { ...request, limit: Math.min(left, MAX_OPERATION_JOBS) }
    const jobs = await chooseForDiscard(context, limited)
    const found: PlannedTotal =
      jobs === undefined
        ? valueOf(await planOperation(context, limited))
        : { total: jobs.length, atLeast: [] }
    const { total, atLeast } = found
    if (total > 0 || isLowerBound(found))
      planned.push({ request: limited, total, atLeast, ...(jobs === undefined ? {} : { jobs }) })
    if (left !== undefined) left -= total
  }
  return planned
}

const storeOf = ({ tables }: CliContext, table: string | undefined) =>
  [...tables, ...shardTables(tables)].find(({ name }) => name === table)?.store

/** A store without operations still discards, job by job. */
async function chooseForDiscard(
  context: CliContext,
  { action, table, filter, limit }: BulkRequest,
): Promise<JobSummary[] | undefined> {
  const store = storeOf(context, table)
  if (action !== 'discard' || store === undefined || hasCapability(store, 'operations')) return undefined
  const jobs: JobSummary[] = []
  for await (const job of eachJob(context, { table, filter, limit })) jobs.push(job)
  return jobs
}

async function discardEach(context: CliContext, request: BulkRequest, jobs: JobSummary[]): Promise<Report> {
  const { table, reason } = request
  let changed = 0
  for (const { id, generation } of jobs)
    if ((await discardJob(context, { id, table, generation, reason })).isDone) changed++
  const counts = { total: jobs.length, changed, refused: jobs.length - changed, succeeded: 0, failed: 0 }
  return { table, operationId: null, ...counts, stopped: null }
}

/** The limit applies to all tables together, and so does `expect`, which an operation can check only for its own. */
async function runAll(
  context: CliContext,
  planned: PlannedRequest[],
  { limit, expect }: Pick<OperationInput, 'limit' | 'expect'>,
): Promise<Report[]> {
  const stop = new AbortController()
  let abort = async () => {}
  const interrupt = () => void abort().finally(() => stop.abort())
  process.once('SIGINT', interrupt)
  try {
    const reports: Report[] = []
    for (const { request, jobs } of planned) {
      const left = restOf(limit, reports)
      if (stop.signal.aborted || left === 0) break
      if (jobs !== undefined) {
        reports.push(await discardEach(context, request, jobs))
        continue
      }
      const { table, operation, leaseId } = valueOf(
        await beginOperation(context, {
          ...request,
          limit: left,
          expect: planned.length === 1 ? expect : undefined,
          leaseMs: LEASE_MS,
        }),
      )
      const store = storeOf(context, table)
      if (store === undefined || leaseId === null) throw new UnstuckError('INTERNAL', 'no lease was granted')
      abort = async () => void (await abortOperation(context, operation.id))
      const { sourceExists } = context
      const onProgress = progressPrinter(table)
      const options = { signal: stop.signal, leaseMs: LEASE_MS, onProgress, sourceExists }
      const ended = (await runOperation(store, { operation, leaseId }, options)) ?? operation
      reports.push(reportOf(table, ended))
      if (ended.state !== 'done') break
    }
    return reports
  } finally {
    process.off('SIGINT', interrupt)
  }
}

function restOf(limit: number | undefined, reports: Report[]): number | undefined {
  if (limit === undefined) return undefined
  return Math.min(
    MAX_OPERATION_JOBS,
    reports.reduce((left, { total }) => left - total, limit),
  )
}

function reportOf(table: string, operation: Operation): Report {
  const { id, total, changed, refused, succeeded, failed, stopped } = operation
  return { table, operationId: id, total, changed, refused, succeeded, failed, stopped }
}

/** One updated line on a terminal; elsewhere a line per tenth. */
function progressPrinter(table: string): (operation: Operation) => void {
  let shown = -1
  return ({ action, phase, total, changed, refused, succeeded, failed }) => {
    if (phase === null) return
    const done = changed + refused
    const fate = action === 'redrive' ? ` · succeeded ${succeeded} · failed ${failed}` : ''
    const line = `${table}: ${phase === 'canary' ? 'canary' : `${done}/${total}`}${fate}`
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${escapeControls(line)}   ${phase === 'rest' && done === total ? '\n' : ''}`)
      return
    }
    const tenth = phase === 'canary' ? 0 : 1 + Math.floor((10 * done) / total)
    if (tenth !== shown) printProgress(line)
    shown = tenth
  }
}

const stops: Record<OperationStop, string> = {
  'canary-failed': 'the canary failed again',
  'canary-timeout': 'the canary did not finish in time: is a worker running?',
  'too-many-failures': 'half of the first jobs failed again',
  'breaker-open': 'the breaker of a queue is open',
  interrupted: 'interrupted',
}

function printReport({ table, total, changed, refused, stopped }: Report, words: BulkWords): void {
  const others = refused === 0 ? '' : `, ${refused} ${words.refused}`
  printLine(`${table}: ${changed} of ${total} jobs ${words.done}${others}`)
  if (stopped !== null) {
    const why = Object.hasOwn(stops, stopped) ? stops[stopped as OperationStop] : stopped
    printLine(`stopped: ${why}. The rest is unchanged.`)
  }
}
