// The engine is removed from a database where others go by it than the profile of the one who asks.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { clipTables } from '../support/tables/clip-tables.ts'
import { type CommandFolder, openCommandFolder } from './command-folder.ts'
import { schemaExists } from './describe.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

let { database, run, close } = {} as CommandFolder

beforeEach(async () => {
  ;({ database, run, close } = await openCommandFolder())
})
afterEach(() => close())

it.each([['detach'], ['migrate', 'down']])(
  'OPS-5 %s %s asks where unstuck’s own table has jobs, and says what became of them',
  async (...command) => {
    await run('migrate', 'up')
    await database.pool.query(`select unstuck.enqueue_jobs('[{"type": "asr"}, {"type": "asr"}]')`)
    expect(await run(...command)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(
        /from schema unstuck: 2 jobs of unstuck’s own table are left without functions\. There is no terminal to ask on\.\n.*--yes/,
      ),
    })
    const { rows } = await database.pool.query(
      `select to_regproc('unstuck.claim_jobs') is not null as is_there`,
    )
    expect(rows).toEqual([{ is_there: true }])
    expect(await run(...command, '--yes')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('were kept: unstuck migrate down --purge drops them'),
    })
    // Nothing is lost by a second time, so nobody is asked.
    expect(await run(...command)).toMatchObject({ exitCode: 0 })
  },
)

it('OPS-5 asks before a purge deletes jobs that an earlier removal kept', async () => {
  await run('migrate', 'up')
  await database.pool.query(`select unstuck.enqueue_jobs('[{"type": "asr"}]')`)
  await run('migrate', 'down', '--yes')
  expect(await run('migrate', 'down', '--purge')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('1 job of unstuck’s own table is deleted permanently'),
  })
  expect(await run('migrate', 'down', '--purge', '--yes')).toMatchObject({ exitCode: 0 })
  expect(await schemaExists(database.pool)).toBe(false)
})

it('OPS-5 asks where tables of another profile or tokens go with it, and not for those of the profile', async () => {
  await database.pool.query(clipTables)
  await run('attach', '--profile', 'clip')
  await run('tokens', 'create', 'ci', '--role', 'viewer')
  const { exitCode, stderr } = await run('detach')
  expect(exitCode).toBe(2)
  expect(stderr).toContain('public.asr_jobs, public.jobs are detached too; 1 token is deleted.')
  await database.pool.query('delete from unstuck.tokens')
  expect(await run('detach', '--profile', 'clip')).toMatchObject({
    exitCode: 0,
    stdout: 'removed from schema unstuck; your rows and columns stay\n',
  })
  expect(await schemaExists(database.pool)).toBe(false)
})
