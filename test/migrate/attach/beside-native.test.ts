// `unstuck attach` in a database where unstuck has a table of its own already.
import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type CommandFolder, openCommandFolder } from '../command-folder.ts'

// Each command is a process, and a busy machine takes seconds to start one.
vi.setConfig({ testTimeout: 120_000 })

const videoJobs = `
  create table video_jobs (
    id bigserial primary key, state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed')),
    "lockedBy" text, "lockedAt" timestamptz, attempts int not null default 0, args jsonb);`

let { database, folder, run, close } = {} as CommandFolder

beforeEach(async () => {
  ;({ database, folder, run, close } = await openCommandFolder())
})
afterEach(() => close())

describe('the native table', () => {
  it('OPS-7 is not taken for one of the team’s, neither alone nor beside one', async () => {
    await run('migrate', 'up')
    const alone = await run('attach')
    expect(alone).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('no table looks like a job table; found unstuck’s own'),
    })
    expect(readdirSync(folder)).toEqual([])
    await database.pool.query(videoJobs)
    expect(await run('attach')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('a draft profile for public.video_jobs'),
    })
  })

  it('OPS-7 is refused where it is named, and a table of the team’s with its name is not', async () => {
    await run('migrate', 'up')
    for (const named of ['unstuck.jobs', 'jobs']) {
      expect(await run('attach', '--table', named)).toMatchObject({
        exitCode: 4,
        stderr: expect.stringMatching(/table unstuck\.jobs: it belongs to unstuck\n.*nothing to attach/),
      })
    }
    await database.pool.query(videoJobs.replaceAll('video_jobs', 'jobs'))
    expect(await run('attach', '--plan', '--table', 'jobs', '--json')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"public.jobs"'),
    })
  })

  it('OPS-7 that nobody named among several is asked for in words', async () => {
    await database.pool.query(videoJobs + videoJobs.replaceAll('video_jobs', 'audio_jobs'))
    const { exitCode, stderr } = await run('attach')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(
      /several tables look like job tables: public\.\w+_jobs, public\.\w+_jobs\n.*--table public/,
    )
    expect(stderr).not.toContain('got')
  })
})
