// Attached tables, jobs and tokens that a removal of the engine would affect. Read-only.
import { nativeProfile } from '../../../../profile/native.ts'
import type { RenderOptions } from '../../render/render.ts'
import { withReadingSession } from '../session/reading-session.ts'

export interface EngineUse {
  isInstalled: boolean
  /** Attached tables, as schema.table. */
  attached: string[]
  /** Native jobs, up to 100,000. */
  ownJobs: number
  tokens: number
}

export async function readEngineUse(databaseUrl: string, schema: string): Promise<EngineUse> {
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0] }
  return withReadingSession(databaseUrl, async (session) => {
    const [facts = {}] = await session.query('server_facts', base)
    const ownJobs =
      facts['has_jobs'] === true ? Number((await session.query('count_own_jobs', base))[0]?.['jobs']) : 0
    if (facts['is_installed'] !== true) return { isInstalled: false, attached: [], ownJobs, tokens: 0 }
    const [use = {}] = await session.query('engine_use', base)
    const tokens =
      use['has_tokens'] === true ? Number((await session.query('count_tokens', base))[0]?.['tokens']) : 0
    return { isInstalled: true, attached: use['attached'] as string[], ownJobs, tokens }
  })
}
