// No profile is configured: one is made from the table that is to be attached.
import { findTables, type ShapedTable, scan } from '../../compose.ts'
import type { Config } from '../../config/index.ts'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import { type InferredProfile, inferProfile } from '../../profile/infer-profile.ts'
import { attachmentName, type OwnProfile } from '../../profile/own-profile.ts'
import { recogniseTable } from '../../profile/recognise-table.ts'
import { shippedProfileNames } from '../../profile/shipped.ts'
import { readTableName, showTableName, type TableName } from './table-name.ts'

export interface Proposal extends Omit<InferredProfile, 'table'> {
  profile: OwnProfile
  /** `public.video_jobs` */
  tableName: string
}

export async function proposeProfile(config: Config, given: string | undefined): Promise<Proposal> {
  const named = given === undefined ? await onlyCandidate(config) : readTableName(given)
  const shape = onlyTable(await findTables(config, named), named)
  refuseOthers(shape)
  const inferred = inferProfile(shape, shape.wordsInRows)
  const tableName = showTableName(shape)
  if ('problem' in inferred) {
    throw new UnstuckError('TABLE_UNSUPPORTED', `table ${tableName}: ${inferred.problem}`, {
      hint: inferred.hint,
    })
  }
  const { table, certainty, questions } = inferred
  return { profile: { name: profileName(shape), tables: [table] }, tableName, certainty, questions }
}

const profileName = ({ table }: ShapedTable) => {
  const name = attachmentName(table)
  return shippedProfileNames.some((shipped) => shipped === name) ? `team_${name}` : name
}

/** The age does not matter here: a scan finds tables whatever is stuck in them. */
const ANY_AGE_MS = 900_000

async function onlyCandidate(config: Config): Promise<TableName> {
  const { tables } = await scan(config, { olderThanMs: ANY_AGE_MS })
  const candidates = tables.filter(({ kind, certainty }) => kind !== 'known queue' && certainty !== 'unsure')
  const [first, second] = candidates
  if (first === undefined) {
    throw new UnstuckError('TABLE_NOT_FOUND', 'no table looks like one of jobs', {
      hint: 'Name it: unstuck attach --table schema.name',
    })
  }
  if (second !== undefined) throw ambiguous('nothing', candidates)
  return first
}

function onlyTable(found: ShapedTable[], { schema, table }: TableName): ShapedTable {
  const [first, second] = found
  if (first !== undefined && second === undefined) return first
  if (second !== undefined) throw ambiguous(table, found)
  const name = schema === null ? table : showTableName({ schema, table })
  throw new UnstuckError('TABLE_NOT_FOUND', `table ${name}: not found in this database`, {
    hint: 'Check the schema and the name, and that DATABASE_URL is the database you mean. unstuck scan lists job tables.',
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
  const target = recogniseTable({ ...shape, canRead: true, isFiltered: false }, [], [])
  if (target?.kind === 'known queue') {
    throw new UnstuckError('TABLE_UNSUPPORTED', `table ${name}: it belongs to ${target.name}`, {
      hint: target.remedy,
    })
  }
}
