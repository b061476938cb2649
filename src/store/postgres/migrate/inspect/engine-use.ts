// Who loses something when the engine is taken out: asked before, by a look that writes nothing.
import { nativeProfile } from '../../../../profile/native.ts'
import type { RenderOptions } from '../../render/render.ts'
import { withReadingSession } from '../session/reading-session.ts'

export interface EngineUse {
  isInstalled: boolean
  /** Tables that are attached, as schema.table. */
  attached: string[]
  /** Jobs of the engine's own table, up to 100,000. */
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
