// Recognises the table of a document by its name and columns, whatever its schema, its case and some of its names.
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

/** Null if no document describes such a table. */
export function nearestDocument(sighted: Sighted): NearDocument | null {
  return documents.find(({ table }) => isNearly(table, sighted)) ?? null
}

function isNearly(profile: TableProfile, { table, columns }: Sighted): boolean {
  if (!isNamedLike(profile.table, table)) return false
  const names = new Set(Object.keys(columns).map(inSnakeCase))
  const has = (column: string) => names.has(inSnakeCase(column))
  // Many tables are called `jobs`: the time that the document judges by has to be there, if it has a name of its own.
  const ages = profile.ageColumns.flatMap((column) => profile.columns[column] ?? [])
  const own = [...Object.values(profile.columns), ...(profile.lastError ? [profile.lastError.column] : [])]
  return has(columnName(profile, 'status')) && ages.every(has) && own.filter(has).length >= LEAST_COLUMNS
}

/** `ConversionJob` and `app_conversion_jobs` are `conversion_jobs`; a name of one word has no prefix. */
function isNamedLike(document: string, table: string): boolean {
  const [asked, found] = [singular(document), singular(table)]
  return asked === found || (asked.includes('_') && found.endsWith(`_${asked}`))
}

const singular = (name: string) => inSnakeCase(name).replace(/s$/, '')
