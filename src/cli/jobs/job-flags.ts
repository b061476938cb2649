// Flags that select jobs, and the actor and reason of a change.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { actorName } from '../../commands/actor-name.ts'
import { parseFilter } from '../../commands/jobs/parse-filter.ts'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { JobFilter } from '../../store/job-store.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { readDuration } from '../terminal/duration.ts'

export interface FilterFlags extends TableFlags {
  status?: NonNullable<JobFilter['status']>
  type?: string
  queue?: string
  owner?: string
  worker?: string
  stage?: string
  code?: string
  cause?: string
  overdue?: boolean
  olderThan?: number
  youngerThan?: number
  where?: string
}

export function withFilter(command: Command): Command {
  const statuses = ['waiting', 'running', 'succeeded', 'dead', 'cancelled']
  return withTable(command)
    .addOption(new Option('--status <status>', 'only this status').choices(statuses))
    .option('--type <type>', 'only this type')
    .option('--queue <queue>', 'only this queue')
    .option('--owner <owner>', 'only this owner')
    .option('--worker <id>', 'only jobs run by this worker')
    .option('--stage <stage>', 'only this stage')
    .option('--code <code>', 'only jobs whose last error has this code')
    .option('--cause <cause>', 'only dead jobs of this cause (unstuck dead list)')
    .option('--overdue', 'only running jobs past their lease')
    .option('--older-than <duration>', 'created longer ago than 30s, 10m, 2h, 1d', readDuration)
    .option('--younger-than <duration>', 'created within the last 30s, 10m, 2h, 1d', readDuration)
    .option('--where <filter>', 'only jobs that match "status:dead error:GW_5XX older:2h"')
}

export function filterOf(flags: FilterFlags): JobFilter {
  const { status, type, queue, owner, worker, stage, code, cause, overdue, olderThan, youngerThan, where } =
    flags
  const named = {
    status,
    type,
    queue,
    owner,
    workerId: worker,
    stage,
    errorCode: code,
    causeId: cause,
    isOverdue: overdue,
    olderThanMs: olderThan,
    youngerThanMs: youngerThan,
  }
  const filter: JobFilter = Object.fromEntries(
    Object.entries(named).filter(([, value]) => value !== undefined),
  )
  if (where === undefined) return filter
  const also = readWhere(where)
  if (Object.keys(also).some((key) => key in filter))
    throw invalidArgument('where', where, 'nothing that a flag sets too')
  return { ...filter, ...also }
}

/** The filter of `--where`, in the language of the HTTP API. */
export function readWhere(text: string): JobFilter {
  const parsed = parseFilter(text)
  if ('problem' in parsed) {
    const { message, token, position } = parsed.problem
    throw new UnstuckError('INVALID_ARGUMENT', `where: ${message}`, {
      hint: `At character ${position + 1}: ${token}`,
    })
  }
  if (Object.keys(parsed.filter).length === 0) throw invalidArgument('where', text, 'at least one key:value')
  return parsed.filter
}

export interface ChangeFlags extends TableFlags {
  reason: string
  actor: string
}

export function actorOption(): Option {
  return new Option('--actor <name>', 'actor, recorded with the change').default(
    actorName(),
    'your user name',
  )
}

export function withReason(command: Command): Command {
  return withTable(command)
    .requiredOption('--reason <text>', 'reason, recorded with the change')
    .addOption(actorOption())
}

/** Selects jobs by id, or by filter. */
export function withWhere(command: Command): Command {
  return command
    .argument('[ids...]', 'job ids, or prefixes of them')
    .option('--where <filter>', 'all matching jobs instead of ids: "status:dead error:GW_5XX older:2h"')
    .option('--limit <jobs>', 'with --where: maximum, oldest first', readCount)
    .option('--expect <jobs>', 'with --where: refuse if another number of jobs matches', readCount)
    .option('--dry-run', 'with --where: count the jobs and change nothing')
    .option('--yes', 'do not ask')
}

export function withTable(command: Command): Command {
  return command.option('--table <name>', 'one table of the profile; default: all')
}

/** For a setting, which stays text until the config is read. */
export function readWholeNumber(text: string): string {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Must be a whole number.')
  return text
}

export function readCount(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Must be a whole number.')
  return Number(text)
}

/** `10/s` or `10`. */
export function readRate(text: string): number {
  const rate = Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text)?.[1])
  if (rate >= 0.01 && rate <= 10_000) return rate
  throw new InvalidArgumentError('Must be a rate such as 10/s or 0.5/s.')
}
