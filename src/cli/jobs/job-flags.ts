// The flags by which jobs are chosen, and those that say who changes them and why.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { JobFilter } from '../../store/job-store.ts'
import { actorName } from '../connection/actor-name.ts'
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
}

export function withFilter(command: Command): Command {
  const statuses = ['waiting', 'running', 'succeeded', 'dead', 'cancelled']
  return withTable(command)
    .addOption(new Option('--status <status>', 'in this status only').choices(statuses))
    .option('--type <type>', 'of this type only')
    .option('--queue <queue>', 'of this queue only')
    .option('--owner <owner>', 'of this owner only')
    .option('--worker <id>', 'run by this worker only')
    .option('--stage <stage>', 'in this stage only')
    .option('--code <code>', 'whose last error has this code')
    .option('--cause <cause>', 'dead of this cause (unstuck dead list)')
    .option('--overdue', 'running and past their lease only')
    .option('--older-than <duration>', 'created longer ago: 30s, 10m, 2h, 1d', readDuration)
    .option('--younger-than <duration>', 'created since: 30s, 10m, 2h, 1d', readDuration)
}

export function filterOf(flags: FilterFlags): JobFilter {
  const { status, type, queue, owner, worker, stage, code, cause, overdue, olderThan, youngerThan } = flags
  const filter = {
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
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

export interface ChangeFlags extends TableFlags {
  reason: string
  actor: string
}

export function withReason(command: Command): Command {
  return withTable(command)
    .requiredOption('--reason <text>', 'why, kept with the jobs')
    .addOption(new Option('--actor <name>', 'who').default(actorName(), 'the user of this machine'))
}

/** Ids, or all that fit. */
export function withWhere(command: Command): Command {
  return command
    .argument('[ids...]', 'their ids, or the beginnings of them')
    .option('--where <filter>', 'instead of ids all that fit, such as "status:dead error:GW_5XX older:2h"')
    .option('--limit <jobs>', 'with --where: at most, the oldest first', readCount)
    .option('--expect <jobs>', 'with --where: do nothing where another number of jobs matches', readCount)
    .option('--dry-run', 'with --where: tell how many, and change nothing')
    .option('--yes', 'do not ask')
}

export function withTable(command: Command): Command {
  return command.option('--table <name>', 'one table of the profile only')
}

export function readCount(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.')
  return Number(text)
}

/** `10/s`, or a bare number. */
export function readRate(text: string): number {
  const rate = Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text)?.[1])
  if (rate >= 0.01 && rate <= 10_000) return rate
  throw new InvalidArgumentError('It takes jobs a second, such as 10/s or 0.5/s.')
}
