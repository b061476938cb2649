// Drafts a profile from the table to attach, if none is configured.
import { findTables, type ShapedTable, scan } from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { ExtendedProfile, TableDifferences } from '../../profile/extend-profile.ts'
import { draftExtension } from '../../profile/infer/draft-extension.ts'
import { type InferredProfile, inferProfile } from '../../profile/infer/infer-profile.ts'
import { refusalOf } from '../../profile/infer/known-queues/refusal.ts'
import { nearestDocument, possibleDocument } from '../../profile/infer/nearest-document.ts'
import { nativeProfile } from '../../profile/native.ts'
import { attachmentName, type OwnProfile, type OwnTable } from '../../profile/own-profile.ts'
import { shippedProfileNames } from '../../profile/shipped.ts'
import { readTableName, showTableName, type TableName } from './table-name.ts'

export interface Proposal extends Omit<InferredProfile, 'table'> {
  profile: OwnProfile | ExtendedProfile
  /** `public.video_jobs` */
  tableName: string
}

export async function proposeProfile(config: Config, given: string | undefined): Promise<Proposal> {
  const named = given === undefined ? await onlyCandidate(config) : readTableName(given)
  const found = await findTables(config, named)
  const shape = onlyTable(named.schema === null ? withoutOwn(config, found) : found, named)
  refuseOwn(config, shape)
  refuseOthers(shape)
  const inferred = inferProfile(shape, shape.wordsInRows)
  const tableName = showTableName(shape)
  if ('problem' in inferred) {
    throw new UnstuckError('TABLE_UNSUPPORTED', `table ${tableName}: ${inferred.problem}`, {
      hint: inferred.hint,
    })
  }
  const { table, certainty, questions } = inferred
  const name = profileName(shape)
  const extended = await proposeExtension(config, shape, table)
  if (extended !== null) return { ...extended, profile: { name, ...extended.profile }, tableName }
  const asked = [...questions, ...askForDocument(shape)]
  return { profile: { name, tables: [table] }, tableName, certainty, questions: asked }
}

function askForDocument(shape: ShapedTable): string[] {
  const document = possibleDocument(shape)
  if (document === null) return []
  const { profile, table } = document
  return [
    `extends: it has every column of ${table.table}, the table of ${profile}. If it is that one under another name, write extends: '${profile}', tables: [{ table: '${shape.table}' }].`,
  ]
}

/** Null if it is not nearly the table of a document. */
async function proposeExtension(config: Config, shape: ShapedTable, table: OwnTable) {
  const document = nearestDocument(shape)
  const draft = document && draftExtension(document, shape, table, shape.wordsInRows)
  if (document === null || draft === null) return null
  const { teamEvents } = document.table
  const hasEvents =
    teamEvents === null ||
    (await findTables(config, { schema: shape.schema, table: teamEvents.table })).length > 0
  const differences: TableDifferences = { ...draft.differences, ...(hasEvents ? {} : { teamEvents: null }) }
  return {
    profile: { extends: document.profile, tables: [differences] as [TableDifferences] },
    certainty: 'likely' as const,
    questions: draft.questions,
  }
}

const profileName = ({ table }: ShapedTable) => {
  const name = attachmentName(table)
  return shippedProfileNames.some((shipped) => shipped === name) ? `team_${name}` : name
}

/** The age does not matter: a scan finds tables with or without stuck jobs. */
const ANY_AGE_MS = 900_000

async function onlyCandidate(config: Config): Promise<TableName> {
  const { tables } = await scan(config, { olderThanMs: ANY_AGE_MS })
  const likely = tables.filter(({ kind, certainty }) => kind !== 'known queue' && certainty !== 'unsure')
  const candidates = likely.filter((table) => !isOwn(config, table))
  const [first, second] = candidates
  if (first === undefined) {
    const known = tables.filter(({ kind }) => kind === 'known queue')
    const others = [
      ...(likely.length === 0 ? [] : ['unstuck’s own']),
      ...known.map((table) => `${showTableName(table)} (${table.name})`),
    ]
    const beside = others.length === 0 ? '' : `; found ${others.join(', ')}`
    throw new UnstuckError('TABLE_NOT_FOUND', `no table looks like a job table${beside}`, {
      hint: 'Name it: unstuck attach --table schema.name',
    })
  }
  if (second !== undefined) {
    const names = candidates.map(showTableName).join(', ')
    throw new UnstuckError('INVALID_ARGUMENT', `several tables look like job tables: ${names}`, {
      hint: `Choose one: --table ${showTableName(first)}`,
    })
  }
  return first
}

/** The native table, which already has leases. */
function isOwn(config: Config, { schema, table }: { schema: string; table: string }): boolean {
  const [own] = nativeProfile(config.schema).tables
  return schema === own.schema && table === own.table
}

/** A name without a schema means the application's table, if there is one. */
function withoutOwn(config: Config, found: ShapedTable[]): ShapedTable[] {
  const others = found.filter((shape) => !isOwn(config, shape))
  return others.length === 0 ? found : others
}

function refuseOwn(config: Config, shape: ShapedTable): void {
  if (!isOwn(config, shape)) return
  throw new UnstuckError('TABLE_UNSUPPORTED', `table ${showTableName(shape)}: it belongs to unstuck`, {
    hint: 'There is nothing to attach: unstuck migrate up installs it with leases. unstuck scan lists other job tables.',
  })
}

function onlyTable(found: ShapedTable[], { schema, table }: TableName): ShapedTable {
  const [first, second] = found
  if (first !== undefined && second === undefined) return first
  if (second !== undefined) throw ambiguous(table, found)
  const name = schema === null ? table : showTableName({ schema, table })
  throw new UnstuckError('TABLE_NOT_FOUND', `table ${name}: not found in this database`, {
    hint: 'Check the schema, the name and DATABASE_URL. unstuck scan lists job tables.',
  })
}

function ambiguous(got: string, found: { schema: string; table: string }[]): UnstuckError {
  return invalidArgument('--table', got, `one of ${found.map(showTableName).join(', ')}`)
}

const kinds: Readonly<Record<string, string>> = {
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
}

function refuseOthers(shape: ShapedTable): void {
  const name = showTableName(shape)
  const kind = kinds[shape.kind]
  if (kind !== undefined) {
    throw new UnstuckError('TABLE_UNSUPPORTED', `table ${name}: it is ${kind}`, {
      hint: 'Attach the table behind it.',
    })
  }
  const refusal = refusalOf(shape)
  if (refusal !== null) throw refusal
}
