import { nativeProfile } from '../../../../profile/native.ts'
import type { Profile } from '../../../../profile/profile.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'
import { assertProfile } from '../inspect/check-profile.ts'
import { searchPathStatements } from './plan.ts'

/** Creates the role for workers and grants the privileges it needs. A role given by name only gets the grants. */
export function rolesSql(schema: string, profile: Profile, role?: string): string {
  const made = role === undefined ? [render(readSql('attach/grants', 'worker_role'), baseOf(schema))] : []
  return joined([...made, ...grants(schema, profile, role)])
}

/** Grants for a Supabase project: everything to its service role, nothing to its API roles. */
export function supabaseSql(schema: string): string {
  const base = baseOf(schema)
  return joined([
    render(readSql('attach/grants', 'engine_grants'), { ...base, role: 'service_role' }),
    render(readSql('attach/grants', 'supabase_grants'), base),
  ])
}

function grants(schema: string, profile: Profile, role?: string): string[] {
  assertProfile(schema, profile)
  const to = role === undefined ? {} : { role }
  const attached = profile.name === 'native' ? [] : profile.tables
  return [
    render(readSql('attach/grants', 'engine_grants'), { ...baseOf(schema), ...to }),
    ...attached.map((table) => render(readSql('attach/grants', 'table_grants'), { schema, table, ...to })),
  ]
}

const baseOf = (schema: string): RenderOptions => ({ schema, table: nativeProfile(schema).tables[0] })

const joined = (parts: string[]) =>
  `${[searchPathStatements.pin(), ...parts, searchPathStatements.reset()].map((part) => part.trim()).join('\n\n')}\n`
