import type { Answer, CommandContext } from '../../commands/command.ts'
import { given } from '../../commands/given.ts'
import { cancelJob, discardJob, type JobChange, retryJob } from '../../commands/jobs/job-commands.ts'
import { shardTables } from '../../commands/shard-tables.ts'
import { exitCodes, invalidArgument } from '../../errors/index.ts'
import type { NewOperation } from '../../store/job-store.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { confirm } from '../terminal/confirm.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { findJobs } from './find-job.ts'
import { type ChangeFlags, readWhere } from './job-flags.ts'
import { type BulkFlags, runBulk } from './run-bulk.ts'

interface Change {
  table: string
  jobId: string
  outcome: string
  next?: string
  /** Why the job was not changed. */
  detail?: string
}

interface WhereFlags extends BulkFlags {
  where?: string
}

export async function retryCommand(
  ids: string[],
  flags: WhereFlags & { keepAttempts?: boolean; now?: boolean },
): Promise<void> {
  const { reason, keepAttempts = false, now: isNow = false } = flags
  if (isWhere(ids, flags)) {
    if (isNow) return changeWhere(flags, { action: 'run-now' }, 'are due now')
    return changeWhere(flags, { action: 'retry', keepAttempts }, 'retried')
  }
  await change(ids, flags, (context, ref) => retryJob(context, { ...ref, keepAttempts, isNow, reason }))
}

export async function cancelCommand(ids: string[], flags: WhereFlags): Promise<void> {
  const { reason } = flags
  if (isWhere(ids, flags)) return changeWhere(flags, { action: 'cancel' }, 'cancelled or asked to stop')
  await change(ids, flags, (context, ref) => cancelJob(context, { ...ref, reason }))
}

export async function discardCommand(ids: string[], flags: WhereFlags): Promise<void> {
  const { reason } = flags
  if (isWhere(ids, flags)) return changeWhere(flags, { action: 'discard' }, 'deleted')
  const jobs = ids.length === 1 ? '1 job' : `${ids.length} jobs`
  if (!(await confirm(`This permanently deletes ${jobs}.`, flags))) return refuse()
  await change(ids, flags, (context, ref) => discardJob(context, { ...ref, reason }))
}

function isWhere(ids: string[], { where }: WhereFlags): boolean {
  if ((where === undefined) === (ids.length === 0))
    throw invalidArgument('ids', ids.join(' '), 'job ids, or --where')
  return where !== undefined
}

const plans: Record<NewOperation['action'], string> = {
  retry: 'They are retried.',
  redrive: 'They are retried.',
  'run-now': 'They become due now.',
  cancel: 'Waiting jobs are cancelled, running ones are asked to stop.',
  discard: 'They are deleted permanently.',
}

/** Changes all matching jobs as one operation. */
async function changeWhere(
  flags: WhereFlags,
  change: Pick<NewOperation, 'action' | 'keepAttempts'>,
  done: string,
): Promise<void> {
  const { where: q = '', reason } = flags
  const filter = readWhere(q)
  await withCommands(flags, async (context) => {
    const requests = shardTables(context.tables).map(({ name: table }) => ({
      ...change,
      table,
      filter,
      q,
      reason,
    }))
    await runBulk(context, requests, flags, {
      planOf: (count) => `${count} jobs match. ${plans[change.action]}`,
      done,
      refused: 'were refused',
      none: 'no job matches: nothing was changed',
    })
  })
}

export function refuse(): void {
  printLine('nothing was changed')
  process.exitCode = exitCodes.refused
}

type ChangeOne = (context: CommandContext, ref: { id: string; table: string }) => Promise<Answer<JobChange>>

/** Exit code 4 if the state of a job did not allow the change. */
async function change(ids: string[], flags: ChangeFlags, changeOne: ChangeOne): Promise<void> {
  await withCommands(flags, async (context) => {
    const changes: Change[] = []
    for (const { table, jobId } of await findJobs(context.tables, ids)) {
      const answer = await changeOne(context, { id: jobId, table: table.name })
      changes.push({ table: table.name, jobId, ...outcomeOf(answer) })
    }
    if (changes.some(({ detail }) => detail !== undefined)) process.exitCode = exitCodes.refused
    if (flags.json === true) return printJson({ jobs: changes })
    printTable(
      changes.map(({ jobId, outcome, detail, next }) => [
        jobId,
        detail ?? [shownOutcomes[outcome] ?? outcome, next].filter(Boolean).join(': '),
      ]),
    )
  })
}

/** A job in the wrong state does not stop the others. Any other refusal ends the command. */
function outcomeOf(answer: Answer<JobChange>): Pick<Change, 'outcome' | 'detail' | 'next'> {
  if (answer.isDone) return { outcome: answer.value.outcome, ...given({ next: answer.value.next }) }
  const { code, detail, why } = answer.refusal
  const [reason] = why ?? []
  if (reason === undefined && !['SOURCE_GONE', 'JOB_NOT_FOUND'].includes(code)) return valueOf(answer)
  const outcome = (reason?.code ?? code).toLowerCase().replaceAll('_', '-')
  return { outcome, detail: `${reason?.message ?? detail} Nothing was changed.` }
}

const shownOutcomes: Record<string, string> = {
  retried: 'retried',
  due: 'due now',
  'already-due': 'already due, nothing changed',
  'cancel-requested': 'cancel requested: its worker stops it, at the next heartbeat at the latest',
}
