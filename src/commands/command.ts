// A command is one thing that a person or a program asks for. Whether it may is checked here, once, before it runs; an
// expected no is a value.
import type { Job } from '../job/job.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { TableProfile } from '../profile/profile.ts'
import type { JobStore } from '../store/job-store.ts'
import type { Actor } from './actor.ts'
import { type CommandName, type Refusal, refusalOf } from './permissions.ts'

export interface CommandTable {
  name: string
  store: JobStore
  /** Its profile, to name its columns in explanations. */
  table?: TableProfile
}

export interface CommandContext {
  actor: Actor
  isReadOnly: boolean
  tables: readonly [CommandTable, ...CommandTable[]]
  /** Over the stored policy, for every call. */
  policy?: PolicyOverride
  /** Is what a job is made from still there? Asked before a retry (OPS-1). Always yes where absent. */
  sourceExists?: (job: Job) => Promise<boolean>
}

export type Answer<Value> = { isDone: true; value: Value } | { isDone: false; refusal: Refusal }

export const done = <Value>(value: Value): Answer<Value> => ({ isDone: true, value })

export const refused = (
  code: Refusal['code'],
  detail: string,
  more: Omit<Refusal, 'code' | 'detail'> = {},
): Answer<never> => ({ isDone: false, refusal: { code, detail, ...more } })

export type Command<Input, Value> = ((context: CommandContext, input: Input) => Promise<Answer<Value>>) & {
  /** In the table of permissions. */
  readonly commandName: CommandName
}

export function command<Input, Value>(
  commandName: CommandName,
  run: (context: CommandContext, input: Input) => Promise<Answer<Value>>,
): Command<Input, Value> {
  const checked = async (context: CommandContext, input: Input): Promise<Answer<Value>> => {
    const refusal = refusalOf(commandName, context)
    return refusal === null ? run(context, input) : { isDone: false, refusal }
  }
  return Object.assign(checked, { commandName })
}

/** Who and why, for the event; owner and generation, for the WHERE (C21). */
export function manualOptions(
  { actor }: CommandContext,
  reason: string | undefined,
  generation?: number,
): { actor: string; owner?: string; reason?: string; generation?: number } {
  return {
    actor: actor.id,
    ...(actor.owner === undefined ? {} : { owner: actor.owner }),
    ...(reason === undefined ? {} : { reason }),
    ...(generation === undefined ? {} : { generation }),
  }
}

export function policyOf({ policy }: CommandContext): { policy?: PolicyOverride } {
  return policy === undefined ? {} : { policy }
}

/** The table that is named, or the first one. */
export function findTable({ tables }: CommandContext, name: string | undefined): Answer<CommandTable> {
  if (name === undefined) return done(tables[0])
  const found = tables.find((table) => table.name === name)
  if (found !== undefined) return done(found)
  return refused('NOT_FOUND', `no table is called ${name.slice(0, 63)}`, {
    hint: `There is ${tables.map((table) => table.name).join(', ')}.`,
  })
}

export interface InTable {
  table?: string | undefined
}

/** Of the table that is named, or of all. */
export async function fromTables<Value>(
  context: CommandContext,
  { table: name }: InTable,
  read: (table: CommandTable) => Promise<Value[]>,
): Promise<Answer<{ table: string; value: Value }[]>> {
  const named = findTable(context, name)
  if (!named.isDone) return named
  const found: { table: string; value: Value }[] = []
  for (const table of name === undefined ? context.tables : [named.value])
    found.push(...(await read(table)).map((value) => ({ table: table.name, value })))
  return done(found)
}

export interface JobRef {
  id: string
  /** Where absent, every table is asked. */
  table?: string | undefined
}

export interface FoundJob {
  table: CommandTable
  job: Job
}

/** Missing and foreign look the same to somebody who sees the jobs of one owner (C21). */
export async function findJob(
  context: CommandContext,
  { id, table: name }: JobRef,
): Promise<Answer<FoundJob>> {
  const named = findTable(context, name)
  if (!named.isDone) return named
  const { owner } = context.actor
  for (const table of name === undefined ? context.tables : [named.value]) {
    const job = await table.store.getJob(id)
    if (job !== null && (owner === undefined || job.owner === owner)) return done({ table, job })
  }
  return jobNotFound(id)
}

export const jobNotFound = (id: string): Answer<never> => refused('JOB_NOT_FOUND', `no job has the id ${id}`)
