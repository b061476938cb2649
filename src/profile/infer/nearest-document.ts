// Recognises the table of a document by its name and columns, whatever its schema, its case and some of its names; a renamed one
// by columns that hardly any other table has.
import { columnName, type TableProfile } from '../profile.ts'
import { type ProfileName, shippedProfile, shippedProfileNames } from '../shipped.ts'
import { inSnakeCase } from './snake-case.ts'

export interface NearDocument {
  profile: Exclude<ProfileName, 'native'>
  /** The table of the document that it resembles. */
  table: TableProfile
}

interface Sighted {
  table: string
  columns: Record<string, unknown>
}

const documents = shippedProfileNames.flatMap((profile) =>
  profile === 'native'
    ? []
    : shippedProfile(profile, 'unstuck').tables.map((table): NearDocument => ({ profile, table })),
)

/** At least this many columns have names that only the document gives them. */
const LEAST_COLUMNS = 2

/** Names of documents that hand-made tables have too: alone they prove nothing about a table of another name. */
const COMMON_COLUMNS = new Set([
  'locked_by',
  'locked_at',
  'attempts',
  'attempt_count',
  'last_error',
  'error_message',
  'retry_after',
])

/** Null if no document describes such a table. */
export function nearestDocument(sighted: Sighted): NearDocument | null {
  const isNear = ({ table }: NearDocument) =>
    isNamedLike(table.table, sighted.table) && isNearly(table, sighted)
  return documents.find(isNear) ?? documents.find(({ table }) => isRenamed(table, sighted)) ?? null
}

/** A document whose every column a table has, under a name that is not the document's: only its team can tell. */
export function possibleDocument(sighted: Sighted): NearDocument | null {
  const has = columnFinder(sighted)
  const hasAll = ({ table }: NearDocument) =>
    ownColumns(table).every(has) && (table.defaultType !== null || has(columnName(table, 'type')))
  return nearestDocument(sighted) === null ? (documents.find(hasAll) ?? null) : null
}

function isNearly(profile: TableProfile, sighted: Sighted): boolean {
  const has = columnFinder(sighted)
  // Many tables are called `jobs`: the time that the document judges by has to be there, if it has a name of its own.
  const ages = profile.ageColumns.flatMap((column) => profile.columns[column] ?? [])
  const own = ownColumns(profile).filter(has)
  return has(columnName(profile, 'status')) && ages.every(has) && own.length >= LEAST_COLUMNS
}

/** Two columns that only the document has, or one beside all others of it. */
function isRenamed(profile: TableProfile, sighted: Sighted): boolean {
  const own = ownColumns(profile)
  const found = own.filter(columnFinder(sighted))
  const rare = found.filter((column) => !COMMON_COLUMNS.has(column)).length
  return isNearly(profile, sighted) && (rare >= 2 || (rare === 1 && found.length === own.length))
}

/** Columns whose names are not the engine's. */
const ownColumns = ({ columns, lastError }: TableProfile): string[] => [
  ...Object.values(columns),
  ...(lastError ? [lastError.column] : []),
]

function columnFinder({ columns }: Sighted): (column: string) => boolean {
  const names = new Set(Object.keys(columns).map(inSnakeCase))
  return (column) => names.has(inSnakeCase(column))
}

/** `ConversionJob` and `app_conversion_jobs` are `conversion_jobs`; a name of one word has no prefix. */
function isNamedLike(document: string, table: string): boolean {
  const [asked, found] = [singular(document), singular(table)]
  return asked === found || (asked.includes('_') && found.endsWith(`_${asked}`))
}

const singular = (name: string) => inSnakeCase(name).replace(/s$/, '')
