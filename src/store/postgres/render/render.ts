// Renders a file of sql/ for one job table. The files are valid SQL for the native table; everything that a profile may
// change is marked, and nothing else is touched (docs/adr/0006):
//   "name"            a double-quoted name: the schema, the job table, a function of the attachment, a column, an index
//   "team"."name"     a function or view in the schema of the table, with a name of the team's own
//   /*marker*/token   a word, type or expression: the marker names the replacement of the token after it
//   /*+block text*/   text for profiles that have the block
// Times of other types than timestamptz, a status that the table has not, a payload of several columns, and columns that it does
// without are read and written by column-access.ts.
// Calls of built-in functions are qualified with pg_catalog.
import {
  columnName,
  type LogicalColumn,
  logicalColumns,
  stateTimes,
  type TableProfile,
} from '../../../profile/profile.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { absentAccess, absentFields, defaultTypeOf, withoutAbsentKeys } from './absent-columns.ts'
import { qualifyBuiltInFunctions } from './built-in-functions.ts'
import { withColumnAccess } from './column-access.ts'
import { quoteIdentifier, quoteLiteral } from './identifiers.ts'
import { hasUniqueKeys, indexNames, partitionIndex } from './index-names.ts'
import { payloadAccess } from './payload-columns.ts'
import { typeOfKey, withExactOperands } from './pinned-operators.ts'
import type { Partition, RenderOptions } from './render-options.ts'
import { statusAccess } from './state-columns.ts'
import { readTime, timeAccess } from './time-columns.ts'
import { markedToken, nextToken } from './tokens.ts'

/** The name in the files of sql/. */
const WORKER_ROLE = 'unstuck_worker'

export type { Partition, RenderOptions }

/** Suffix of the functions of an attachment; the native table has none. */
export function functionSuffix(table: TableProfile): string {
  return table.attachment === 'native' ? '' : `__${table.attachment}`
}

/** The team's own name; otherwise `jobs_…` is named after the table, and other names stay. */
export function teamName({ table, teamObjects = [] }: TableProfile, name: string): string {
  return teamObjects.find(({ document }) => document === name)?.name ?? name.replace(/^jobs_/, `${table}_`)
}

export function render(sql: string, options: RenderOptions): string {
  const names = nameTable(options)
  const markers = markerTable(options)
  const blocks = blockTable(options)
  const { table, timeTypes = {}, absent = new Set() } = options
  const accesses = [
    ...timeAccess(table, timeTypes),
    ...statusAccess(table, timeTypes),
    ...absentAccess(table, absent),
    ...payloadAccess(table, absent),
  ]
  return renderText(withColumnAccess(withoutAbsentKeys(withExactOperands(sql, options), absent), accesses))

  function renderText(text: string): string {
    let out = ''
    let at = 0
    while (at < text.length) {
      const token = nextToken(text, at)
      at += token.length
      if (token.startsWith('/*+')) {
        const [, name = '', body = ''] = /^\/\*\+(\w+)\s([\s\S]*)\*\/$/.exec(token) ?? []
        if (blocks.has(name)) out += renderText(body)
      } else if (/^\/\*\w+\*\/$/.test(token)) {
        const marked = markedToken(text, at)
        at += marked.length
        out += replacement(token.slice(2, -2), marked)
      } else if (token.startsWith('"')) {
        out += names(token)
      } else if (token.startsWith("'")) {
        out += token + typeOfKey(out, text.slice(at))
      } else {
        out += token.startsWith('--') ? token : qualifyBuiltInFunctions(token)
      }
    }
    return out
  }

  function replacement(marker: string, marked: string): string {
    if (marker === 'new_id') return newId(options.table, renderText(marked))
    if (marker === 'judged_waiting')
      return options.table.judgesWaiting === true ? renderText(marked) : '(true)'
    if (marker === 'counts_timeouts') return absent.has('timeouts') ? '(false)' : renderText(marked)
    const found = markers.get(marker)
    if (found === undefined) throw new Error(`unknown marker /*${marker}*/ in a file of sql/`)
    return found
  }
}

function nameTable(options: RenderOptions): (token: string) => string {
  const { schema, table, index, documentIndex, partition } = options
  const columns = new Map<string, string>(
    logicalColumns.map((column) => [column, quoteIdentifier(columnName(table, column))]),
  )
  const quotedSchema = quoteIdentifier(schema)
  const place = partition ?? table
  const qualifiedTable = `${quoteIdentifier(place.schema)}.${quoteIdentifier(place.table)}`
  const others = new Map<string, string>([
    ['"unstuck"', quotedSchema],
    ['"unstuck"."jobs"', qualifiedTable],
    ...indexNames(options).map(([name, own]): [string, string] => [`"${name}"`, quoteIdentifier(own)]),
  ])
  if (index !== undefined) others.set('"index"', `${quoteIdentifier(table.schema)}.${quoteIdentifier(index)}`)
  if (index !== undefined && partition !== undefined) {
    const name = quoteIdentifier(partitionIndex(index, partition))
    others.set('"partition_index"', `${quoteIdentifier(partition.schema)}.${name}`)
  } else {
    others.set('"partition_index"', '"partition_index"')
  }
  const document = documentIndex?.name ?? 'document_index'
  others.set(
    '"document_index"',
    quoteIdentifier(partition === undefined ? document : partitionIndex(document, partition)),
  )
  others.set('"sampled_column"', quoteIdentifier(options.sampledColumn ?? 'sampled_column'))
  for (const [place, name] of Object.values(table.payload ?? {}).entries())
    others.set(`"payload_${place}"`, quoteIdentifier(name))
  for (const [state, name] of stateTimes(table)) others.set(`"state_${state}"`, quoteIdentifier(name))
  if (table.lastError !== undefined) others.set('"last_error"', quoteIdentifier(table.lastError.column))
  if (table.teamEvents !== null) {
    const { schema: eventSchema, table: eventTable, jobIdColumn, dataColumn } = table.teamEvents
    others.set('"team_events"', `${quoteIdentifier(eventSchema)}.${quoteIdentifier(eventTable)}`)
    others.set('"team_job_id"', quoteIdentifier(jobIdColumn))
    others.set('"team_data"', quoteIdentifier(dataColumn))
  }
  return (token) => {
    const known = others.get(token) ?? columns.get(token.slice(1, -1))
    if (known !== undefined) return known
    const [, ofTeam] = /^"team"\."(\w+)"$/.exec(token) ?? []
    if (ofTeam !== undefined)
      return `${quoteIdentifier(table.schema)}.${quoteIdentifier(teamName(table, ofTeam))}`
    const [, routine] = /^"unstuck"\."(\w+)"$/.exec(token) ?? []
    if (routine === undefined)
      throw new Error(`${token} in a file of sql/ is not a name that rendering knows`)
    return `${quotedSchema}.${quoteIdentifier(routine + functionSuffix(table))}`
  }
}

function markerTable(options: RenderOptions): Map<string, string> {
  const {
    schema,
    table,
    statusType,
    profile,
    isPurge,
    documentIndex,
    role = WORKER_ROLE,
    shard = 0,
  } = options
  const { waiting, running, succeeded, dead, cancelled } = table.statuses
  const word = (text: string) => quoteLiteral(text) + (statusType === undefined ? '' : `::${statusType}`)
  const wordLists = {
    running_words: running,
    unfinished_words: [waiting, ...running],
    ended_words: [succeeded, dead, cancelled ?? dead],
  }
  return new Map([
    ...Object.entries(wordLists).flatMap(([marker, texts]) =>
      listMarkers(marker, [...new Set(texts)].map(word)),
    ),
    ['waiting', word(waiting)],
    ['running', word(running[0])],
    ['succeeded', word(succeeded)],
    ['dead', word(dead)],
    ['cancelled', word(cancelled ?? dead)],
    ['unique', hasUniqueKeys(options) ? 'unique' : ''],
    ['any_running', anyRunning(options, running.map(options.statusKind === undefined ? word : quoteLiteral))],
    ['tells_cancelled', `(${(cancelled ?? dead) !== dead})`],
    ['id', table.idType],
    ['id_type', quoteLiteral(table.idType)],
    ['lowest_id', lowestId[table.idType]],
    ['some_id', someId[table.idType]],
    ['schema', quoteLiteral(schema)],
    ['shard', String(shard)],
    // Variant and shard, at the top of the second half of an id.
    ['shard_bits', `(${BigInt.asIntN(64, (0x8000n | BigInt(shard)) << 48n)})`],
    ['attachment', quoteLiteral(table.attachment)],
    ['profile', quoteLiteral(profile ?? 'native')],
    ['policy', quoteLiteral(policyToJson(table.policy) ?? '{}')],
    ['purge', String(isPurge ?? false)],
    ['role', quoteLiteral(role)],
    ['grantee', role === WORKER_ROLE ? role : quoteIdentifier(role)],
    ['events_schema', quoteLiteral(table.teamEvents?.schema ?? '')],
    ['events_table', quoteLiteral(table.teamEvents?.table ?? '')],
    ['table_schema', quoteLiteral(table.schema)],
    ['table', quoteLiteral(table.table)],
    ...(['id', 'type', 'owner'] as const).map((column): [string, string] => [
      `${column}_column`,
      quoteLiteral(columnName(table, column)),
    ]),
    // Citus plans a statement for the values of its parameters only.
    ['plan_mode', options.isDistributed === true ? 'auto' : 'force_generic_plan'],
    ['default_type', quoteLiteral(defaultTypeOf(table))],
    ['absent_fields', quoteLiteral(absentFields(options.absent ?? new Set()))],
    ['index_columns', columnList(table, documentIndex?.columns ?? ['status', 'lease_expires_at'])],
    ['age', ageOf(options)],
    ['sampled_time', `(${jobTime(options, options.sampledColumn ?? columnName(table, 'created_at'))})`],
    ['lease_end', leaseEnd(options)],
    ['requeued_text', quoteLiteral(table.lastError?.requeued ?? 'lease_expired')],
    ['dead_text', quoteLiteral(table.lastError?.dead ?? 'lease_expired')],
  ])
}

/** The words in parentheses, and as operand of a named operator: any of them, none of them. */
function listMarkers(marker: string, words: string[]): [string, string][] {
  const list = words.join(', ')
  const asArray = (quantifier: string) => (words.length === 1 ? list : `${quantifier} (array[${list}])`)
  return [
    [marker, `(${list})`],
    [`${marker}_any`, asArray('any')],
    [`${marker}_all`, asArray('all')],
  ]
}

const columnList = (table: TableProfile, columns: LogicalColumn[]) =>
  `(${columns.map((column) => quoteIdentifier(columnName(table, column))).join(', ')})`

const lowestId = {
  uuid: "'00000000-0000-0000-0000-000000000000'::uuid",
  bigint: "'-9223372036854775808'::bigint",
  text: "''",
} as const

/** An id that fits every column of the type, however narrow. */
const someId = {
  uuid: "'00000000-0000-0000-0000-000000000001'",
  bigint: "'1'",
  text: "'1'",
} as const

/** unstuck generates time-ordered ids; numbers come from the table's own sequence. */
function newId({ idType, schema, table, columns }: TableProfile, timeOrdered: string): string {
  if (idType === 'uuid') return timeOrdered
  if (idType === 'text') return `${timeOrdered}::text`
  const qualified = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
  return `pg_catalog.nextval(pg_catalog.pg_get_serial_sequence(${quoteLiteral(qualified)}, ${quoteLiteral(columns.id ?? 'id')}))`
}

/**
 * The operand of `is not distinct from` for the status of a leased row. With several words it is the row's own status, if
 * it is one of them: a plain list would let the planner scan the partial index of running rows.
 */
function anyRunning({ table, statusKind }: RenderOptions, words: string[]): string {
  const [first = ''] = words
  if (words.length === 1) return first
  const status = jobColumn(table, 'status') + (statusKind === undefined ? '' : '::text')
  return `case when ${status} in (${words.join(', ')}) then ${status} else ${first} end`
}

/** The newest of the times that the table has. */
function ageOf(options: RenderOptions): string {
  const { table, absent = new Set() } = options
  const left = table.ageColumns.filter((column) => !absent.has(column))
  const names = [...left.map((column) => columnName(table, column)), ...(table.teamAgeColumns ?? [])]
  return names.length === 0
    ? 'null::timestamptz'
    : `greatest(${names.map((name) => jobTime(options, name)).join(', ')})`
}

/** A claim of ours writes both times at once, so a lock newer than the last heartbeat is foreign, and so is the lease. */
function leaseEnd(options: RenderOptions): string {
  const { table } = options
  const timeOf = (column: LogicalColumn) => jobTime(options, columnName(table, column))
  const end = timeOf('lease_expires_at')
  if (table.hasLockTime !== true) return `(${end})`
  const [lockedAt, beatAt] = [timeOf('last_attempt_at'), timeOf('heartbeat_at')]
  return `(case when ${lockedAt} > ${beatAt} then null else ${end} end)`
}

function jobTime({ timeTypes = {} }: RenderOptions, name: string): string {
  return readTime(`job.${quoteIdentifier(name)}`, timeTypes[name])
}

function jobColumn(table: TableProfile, column: LogicalColumn): string {
  return `job.${quoteIdentifier(columnName(table, column))}`
}

function blockTable(options: RenderOptions): Set<string> {
  const { table, isConcurrent, partitions, partition, absent = new Set() } = options
  const blocks = new Set<string>()
  if (table.teamEvents !== null) blocks.add('team_events')
  if (options.isDistributed === true) blocks.add('distributed')
  if (isConcurrent === true) blocks.add('concurrently')
  if (partitions !== undefined && partition === undefined) blocks.add('only')
  if (!hasUniqueKeys(options)) blocks.add('shared_keys')
  if (table.hasLockTime === true) blocks.add('lock_time')
  if (table.lastError !== undefined) blocks.add('last_error')
  if (absent.size > 0) blocks.add('few_columns')
  if (absent.has('stage')) blocks.add('without_stages')
  if (absent.has('cancel_requested_at')) blocks.add('without_cancel')
  if (absent.has('deadline_at')) blocks.add('without_deadlines')
  if (absent.has('updated_at')) blocks.add('without_update_time')
  if (absent.has('result')) blocks.add('without_results')
  if (absent.has('progress_value')) blocks.add('without_progress')
  if (absent.has('group_key')) blocks.add('without_groups')
  return blocks
}
