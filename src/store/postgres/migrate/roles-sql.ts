import { nativeProfile } from '../../../profile/native.ts'
import type { Profile } from '../../../profile/profile.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql } from '../sql-files.ts'
import { assertProfile } from './check-profile.ts'

/** The role of workers, with what it needs on the engine and on the tables of the profile, and nothing more. */
export function rolesSql(schema: string, profile: Profile): string {
  assertProfile(schema, profile)
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0] }
  const attached = profile.name === 'native' ? [] : profile.tables
  const parts = [
    render(readSql('attach', 'worker_role'), base),
    ...attached.map((table) => render(readSql('attach', 'table_grants'), { schema, table })),
  ]
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`
}
