import { parseFilter } from '../../commands/parse-filter.ts'
import type { DeploymentTable } from '../../compose.ts'
import { exitCodes, invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { NewOperation, Settled } from '../../store/job-store.ts'
import { confirm } from '../confirm.ts'
import { findJobs, groupByTable } from '../find-job.ts'
import type { ChangeFlags } from '../job-flags.ts'
import { printJson, printLine, printTable } from '../output.ts'
import { type BulkFlags, runBulk } from '../run-bulk.ts'
import { withTables } from '../with-tables.ts'

interface Change {
  table: string
  jobId: string
  outcome: string
}

type Act = (store: DeploymentTable['store'], jobIds: string[]) => Promise<Settled<string>[]>

interface WhereFlags extends BulkFlags {
  where?: string
}

export async function retryCommand(
  ids: string[],
  flags: WhereFlags & { keepAttempts?: boolean; now?: boolean },
): Promise<void> {
  const { actor, reason, keepAttempts = false, now = false } = flags
  if (isWhere(ids, flags)) {
    if (now) return changeWhere(flags, { action: 'run-now' }, 'are due now')
    return changeWhere(flags, { action: 'retry', keepAttempts }, 'brought back')
  }
  await change(ids, flags, ['retried', 'due'], async (store, jobIds) => {
    const retried = await store.retryJobs(jobIds, { actor, reason, keepAttempts })
    if (!now) return retried
    const others = retried.filter(({ outcome }) => outcome === 'not-dead').map(({ jobId }) => jobId)
    const hurried = await store.runJobsNow(others, { actor, reason })
    return [...retried.filter(({ outcome }) => outcome !== 'not-dead'), ...hurried]
  })
}

export async function cancelCommand(ids: string[], flags: WhereFlags): Promise<void> {
  const { actor, reason } = flags
  if (isWhere(ids, flags)) return changeWhere(flags, { action: 'cancel' }, 'cancelled, or told to stop')
  await change(ids, flags, ['cancelled', 'cancel-requested'], (store, jobIds) =>
    store.cancelJobs(jobIds, { actor, reason }),
  )
}

export async function discardCommand(ids: string[], flags: WhereFlags): Promise<void> {
  const { actor, reason } = flags
  if (isWhere(ids, flags)) return changeWhere(flags, { action: 'discard' }, 'deleted')
  const jobs = ids.length === 1 ? '1 job is' : `${ids.length} jobs are`
  if (!(await confirm(`${jobs} deleted for good.`, flags))) return refuse()
  await change(ids, flags, ['discarded'], (store, jobIds) => store.discardJobs(jobIds, { actor, reason }))
}

function isWhere(ids: string[], { where }: WhereFlags): boolean {
  if ((where === undefined) === (ids.length === 0))
    throw invalidArgument('ids', ids.join(' '), 'ids of jobs, or --where')
  return where !== undefined
}

const plans: Record<NewOperation['action'], string> = {
  retry: 'They are brought back.',
  redrive: 'They are brought back.',
  'run-now': 'They run as soon as a worker is free.',
  cancel: 'Those that wait are ended, those that run are told to stop.',
  discard: 'They are deleted for good.',
}

/** Every job that fits, as one operation. */
async function changeWhere(
  flags: WhereFlags,
  act: Pick<NewOperation, 'action' | 'keepAttempts'>,
  done: string,
): Promise<void> {
  const { where: q = '', actor, reason } = flags
  const parsed = parseFilter(q)
  if ('problem' in parsed) {
    const { message, token, position } = parsed.problem
    throw new UnstuckError('INVALID_ARGUMENT', `where: ${message}`, {
      hint: `At character ${position + 1}: ${token}`,
    })
  }
  const { filter } = parsed
  if (Object.keys(filter).length === 0) throw invalidArgument('where', q, 'one key:value or more')
  await withTables(flags, async (tables) => {
    const wishes = tables.map((table) => ({ table, request: { ...act, filter, q, actor, reason } }))
    await runBulk(wishes, flags, {
      planOf: (count) => `${count} jobs match. ${plans[act.action]}`,
      done,
      refused: 'were refused',
      none: 'no job fits: nothing was changed',
    })
  })
}

export function refuse(): void {
  printLine('nothing was changed')
  process.exitCode = exitCodes.refused
}

/** Exit code 4 where the state of a job stood in the way of one of them. */
async function change(ids: string[], flags: ChangeFlags, done: string[], act: Act): Promise<void> {
  await withTables(flags, async (tables) => {
    const changes: Change[] = []
    for (const { table, jobIds } of groupByTable(await findJobs(tables, ids))) {
      const answers = await act(table.store, jobIds)
      changes.push(...answers.map((answer) => ({ table: table.name, ...answer })))
    }
    if (changes.some(({ outcome }) => !done.includes(outcome))) process.exitCode = exitCodes.refused
    if (flags.json === true) return printJson({ jobs: changes })
    printTable(changes.map(({ jobId, outcome }) => [jobId, showOutcome(outcome)]))
  })
}

const showOutcome = (outcome: string) => shownOutcomes[outcome] ?? outcome.replaceAll('-', ' ')

const shownOutcomes: Record<string, string> = {
  retried: 'retried: it waits for a worker',
  due: 'due now: it waits for a worker',
  'not-dead': 'not dead: nothing was changed (a waiting job runs at once with --now)',
  'not-waiting': 'neither dead nor waiting: nothing was changed',
  duplicate: 'another unfinished job has its dedupe key: nothing was changed',
  'cancel-requested': 'running: its worker is told with the next heartbeat',
  'already-ended': 'ended already: nothing was changed',
  running: 'running: cancel it first',
  'not-found': 'gone meanwhile',
}
