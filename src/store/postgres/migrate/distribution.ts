// Schemas that Citus distributes: all tables of one are on one node of the cluster, and move together (docs/adr/0039).
import { invalidArgument, UnstuckError } from '../../../errors/index.ts'
import type { Profile } from '../../../profile/profile.ts'
import type { Row } from '../connection/executor.ts'
import type { RenderOptions } from '../render/render.ts'
import type { MigrationSession } from './session/migration-session.ts'

/** `facts` are the server's. */
export async function isDistributedSchema(
  session: MigrationSession,
  base: RenderOptions,
  facts: Row | undefined,
): Promise<boolean> {
  if (facts?.['has_citus'] !== true) return false
  const [row] = await session.query('is_distributed', base)
  return row?.['is_distributed'] === true
}

export function assertCitus(facts: Row): void {
  if (facts['has_citus'] === true) return
  throw invalidArgument(
    'distribute',
    'a database without the extension citus',
    'one on the coordinator of a Citus cluster',
  )
}

/** The engine and a team's table would be on two nodes, and no statement of a verb could use both. */
export function assertOnlyNative(schema: string, profile: Profile, attached: Row[]): void {
  const [table] =
    profile.name === 'native' ? attached.filter(({ name }) => name !== 'native') : profile.tables
  if (table === undefined) return
  throw new UnstuckError(
    'NOT_SUPPORTED',
    `schema ${schema} is distributed by Citus, and has the native table alone`,
    { hint: 'Attach tables to an engine in another schema, which stays on the coordinator.' },
  )
}
