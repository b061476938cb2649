// A handler that changes its stage again and again, in a real worker.
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())

it.each([
  ['its policy', { UNSTUCK_MAX_RUNTIME_SEC: '4' }, {}],
  ['its type', {}, { typeRuntimesMs: { loop: 4_000 } }],
])(
  'LEASE-11 a handler that alternates its stages is stopped at the total deadline of %s',
  async (_, env, policy) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const app = unstuck({ databaseUrl: database.url, pollMs: [20, 40] })
    vi.unstubAllEnvs()
    onTestFinished(() => app.stop())
    await database.pool.query('update unstuck.policies set type_runtimes_ms = $1', ['{}'])
    await app.store.writePolicy({ defaultDeadlineMs: 3_000, maxTimeouts: 1, ...policy })
    const causes: string[] = []
    app.on('job:aborted', ({ reason }) => causes.push(reason))
    const ended = new Promise<unknown>((resolve) => app.on('job:ended', resolve))
    app.handle('loop', async (_job, { stage, signal }) => {
      for (let round = 0; !signal.aborted; round++) {
        await stage(round % 2 === 0 ? 'fetch' : 'store')
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      throw signal.reason
    })
    await app.start()
    const { jobId } = await app.enqueue({ type: 'loop' })
    expect(await ended).toMatchObject({ end: 'dead', code: 'timeout' })
    expect(causes).toEqual(['deadline'])
    const job = await app.store.getJob(jobId)
    expect(job).toMatchObject({ status: 'dead', timeouts: 1 })
  },
)
