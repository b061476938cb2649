// A command is one request of a person or a program. Permission is checked here, once, before it runs. An expected refusal
// is a value.
import type { Job } from '../job/job.ts'
import type { PolicyOverride } from '../policy/policy.ts'
import type { TableProfile } from '../profile/profile.ts'
import { hasCapability } from '../store/capability.ts'
import type { JobStore } from '../store/job-store.ts'
import type { Actor } from './actor.ts'
import { given } from './given.ts'
import { type CommandName, commandRules, type Refusal, type Rule, refusalOf } from './permissions.ts'
import { isShard, readEach, shardTables } from './shard-tables.ts'

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
  /** Overrides the stored policy in every call. */
  policy?: PolicyOverride
  /** Whether the source of a job still exists, checked before a retry (OPS-1). Default: always. */
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
  /** The key in the table of permissions. */
  readonly commandName: CommandName
}

export function command<Input, Value>(
  commandName: CommandName,
  run: (context: CommandContext, input: Input) => Promise<Answer<Value>>,
): Command<Input, Value> {
  const checked = async (context: CommandContext, input: Input): Promise<Answer<Value>> => {
    const own = inShards(commandName, context)
    const refusal = refusalOf(commandName, own)
    return refusal === null ? run(own, input) : { isDone: false, refusal }
  }
  return Object.assign(checked, { commandName })
}

/** Operations, webhooks and trends exist in each shard: a command about them sees the shards as tables. */
function inShards(commandName: CommandName, context: CommandContext): CommandContext {
  const { needs }: Rule = commandRules[commandName]
  if (needs === undefined || context.tables.every(({ store }) => hasCapability(store, needs))) return context
  return { ...context, tables: shardTables(context.tables) as [CommandTable, ...CommandTable[]] }
}

/** Actor and reason go into the event, owner and generation into the WHERE clause (C21). */
export function manualOptions(
  { actor }: CommandContext,
  reason: string | undefined,
  generation?: number,
): { actor: string; owner?: string; reason?: string; generation?: number } {
  return { actor: actor.id, ...given({ owner: actor.owner, reason, generation }) }
}

export function policyOf({ policy }: CommandContext): { policy?: PolicyOverride } {
  return given({ policy })
}

/** The named table, a named shard of one, or the first table. Refused if that would be one of several shards. */
export function findTable({ tables }: CommandContext, name: string | undefined): Answer<CommandTable> {
  const shards = tables.filter((table) =>
    name === undefined ? isShard(table) : table.name.startsWith(`${name}:`),
  )
  if (shards.length > 1 && shards.every(isShard)) return oneShardAtATime(shards)
  if (name === undefined) return done(tables[0])
  const found = [...tables, ...shardTables(tables)].find((table) => table.name === name)
  if (found !== undefined) return done(found)
  return refused('NOT_FOUND', `no table is called ${name.slice(0, 63)}`, {
    hint: `Tables: ${tables.map((table) => table.name).join(', ')}.`,
  })
}

const oneShardAtATime = (shards: readonly CommandTable[]) =>
  refused('INVALID_ARGUMENT', `table: takes one shard: ${shards.map(({ name }) => name).join(', ')}`, {
    hint: 'This exists in each shard. Call once for each, or name one with table.',
  })

/** The named table, or all of them; of a table in shards, all shards. */
export function findTables(
  context: CommandContext,
  name: string | undefined,
): Answer<readonly CommandTable[]> {
  if (name === undefined) return done(context.tables)
  const shards = context.tables.filter((table) => isShard(table) && table.name.startsWith(`${name}:`))
  if (shards.length > 0) return done(shards)
  const named = findTable(context, name)
  return named.isDone ? done([named.value]) : named
}

export interface InTable {
  table?: string | undefined
}

export interface InTableValue<Value> {
  table: string
  value: Value
}

/** Values of the named table, or of all. */
export async function fromTables<Value>(
  context: CommandContext,
  { table: name }: InTable,
  read: (table: CommandTable) => Promise<Value[]>,
): Promise<Answer<InTableValue<Value>[]>> {
  const tables = findTables(context, name)
  if (!tables.isDone) return tables
  const found = await readEach(tables.value, read)
  return done(found.flatMap(({ table, value }) => value.map((each) => ({ table: table.name, value: each }))))
}

/** The first table with an answer: the named one, or any. Null if none has one. */
export async function firstOfTables<Value>(
  context: CommandContext,
  { table: name }: InTable,
  ask: (table: CommandTable) => Promise<Value | null>,
): Promise<Answer<InTableValue<Value> | null>> {
  const tables = findTables(context, name)
  if (!tables.isDone) return tables
  for (const table of tables.value) {
    const value = await ask(table)
    if (value !== null) return done({ table: table.name, value })
  }
  return done(null)
}

export interface JobRef {
  id: string
  /** Default: every table is searched. */
  table?: string | undefined
}

export interface FoundJob {
  table: CommandTable
  job: Job
}

/** To an actor with one owner, a job of another owner does not exist (C21). */
export async function findJob(
  context: CommandContext,
  { id, table: name }: JobRef,
): Promise<Answer<FoundJob>> {
  const tables = findTables(context, name)
  if (!tables.isDone) return tables
  const { owner } = context.actor
  for (const table of tables.value) {
    const job = await table.store.getJob(id)
    if (job !== null && (owner === undefined || job.owner === owner)) return done({ table, job })
  }
  return jobNotFound(id)
}

export const jobNotFound = (id: string): Answer<never> => refused('JOB_NOT_FOUND', `no job has the id ${id}`)
