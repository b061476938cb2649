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
import { isShard, shardTables } from '../../commands/shard-tables.ts'
import { exitCodes, isOutage, UnstuckError } from '../../errors/index.ts'
import { showCount } from '../../policy/explain/show-count.ts'
import { runOperation } from '../../runtime/operations/run-operation.ts'
import { hasCapability } from '../../store/capability.ts'
import type { JobSummary, Operation } from '../../store/job-store.ts'
import { COUNT_LIMIT } from '../../store/ports/call-options.ts'
import { MAX_OPERATION_JOBS, type PlannedTotal } from '../../store/ports/operation-store.ts'
import { errorOfTable } from '../connection/each-acting-table.ts'
import { type CliContext, valueOf } from '../connection/with-commands.ts'
import { confirm } from '../terminal/confirm.ts'
import { printJson, printLine } from '../terminal/output.ts'
import {
  type BulkReport,
  type BulkWords,
  printReport,
  progressPrinter,
  reportOf,
  SHARD_SILENT,
  silentReport,
} from './bulk-report.ts'
import { eachJob } from './each-job.ts'
import type { ChangeFlags } from './job-flags.ts'

export interface BulkFlags extends ChangeFlags {
  limit?: number
  expect?: number
  dryRun?: boolean
  yes?: boolean
}

export type BulkRequest = OperationInput & { table: string }

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
  if (stops.length > 0) process.exitCode = exitCodeOf(stops)
  if (json === true) return printJson({ tables: reports })
  for (const report of reports) printReport(report, words)
}

function exitCodeOf(stops: string[]): number {
  if (stops.includes('interrupted')) return exitCodes.interrupted
  return stops.includes(SHARD_SILENT) ? exitCodes.databaseUnreachable : exitCodes.problemFound
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
      jobs === undefined ? await planOne(context, limited) : { total: jobs.length, atLeast: [] }
    const { total, atLeast } = found
    if (total > 0 || isLowerBound(found))
      planned.push({ request: limited, total, atLeast, ...(jobs === undefined ? {} : { jobs }) })
    if (left !== undefined) left -= total
  }
  return planned
}

/** Without the count of every shard, nobody could confirm the change: a silent one is named, and nothing begins. */
async function planOne(context: CliContext, request: BulkRequest): Promise<PlannedTotal> {
  try {
    return valueOf(await planOperation(context, request))
  } catch (error) {
    throw isOutage(error) && isShard({ name: request.table }) ? errorOfTable(request.table, error) : error
  }
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

async function discardEach(
  context: CliContext,
  request: BulkRequest,
  jobs: JobSummary[],
): Promise<BulkReport> {
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
): Promise<BulkReport[]> {
  const stop = new AbortController()
  const { signal } = stop
  let abort = async () => {}
  const onBegun = ({ id }: Operation) => {
    abort = async () => void (await abortOperation(context, id))
  }
  const interrupt = () => void abort().finally(() => stop.abort())
  process.once('SIGINT', interrupt)
  try {
    const reports: BulkReport[] = []
    for (const each of planned) {
      const left = restOf(limit, reports)
      if (signal.aborted || left === 0) break
      const bounds = { limit: left, expect: planned.length === 1 ? expect : undefined }
      const { report, isEnded } = await runPlanned(context, each, { ...bounds, signal, onBegun })
      reports.push(report)
      if (!isEnded) break
    }
    return reports
  } finally {
    process.off('SIGINT', interrupt)
  }
}

interface RunPlannedOptions extends Pick<OperationInput, 'limit' | 'expect'> {
  signal: AbortSignal
  onBegun: (operation: Operation) => void
}

/** A shard that stops answering has an outcome as well, and keeps no other from its turn. */
async function runPlanned(
  context: CliContext,
  { request, jobs, total }: PlannedRequest,
  { limit, expect, signal, onBegun }: RunPlannedOptions,
): Promise<{ report: BulkReport; isEnded: boolean }> {
  if (jobs !== undefined) return { report: await discardEach(context, request, jobs), isEnded: true }
  let last: Operation | undefined
  try {
    const input = { ...request, limit, expect, leaseMs: LEASE_MS }
    const { table, operation, leaseId } = valueOf(await beginOperation(context, input))
    const store = storeOf(context, table)
    if (store === undefined || leaseId === null) throw new UnstuckError('INTERNAL', 'no lease was granted')
    last = operation
    onBegun(operation)
    const print = progressPrinter(table)
    const onProgress = (progress: Operation) => {
      last = progress
      print(progress)
    }
    const { sourceExists } = context
    const options = { signal, leaseMs: LEASE_MS, onProgress, sourceExists }
    const ended = (await runOperation(store, { operation, leaseId }, options)) ?? operation
    return { report: reportOf(table, ended), isEnded: ended.state === 'done' }
  } catch (error) {
    if (!isOutage(error) || !isShard({ name: request.table })) throw error
    return { report: silentReport(request.table, total, last), isEnded: true }
  }
}

function restOf(limit: number | undefined, reports: BulkReport[]): number | undefined {
  if (limit === undefined) return undefined
  return Math.min(
    MAX_OPERATION_JOBS,
    reports.reduce((left, { total }) => left - total, limit),
  )
}
