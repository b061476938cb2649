// Attempts on the clip tables as a team has them: its own inserts, old workers that claim by a plain UPDATE, an operator who
// puts a failed row back by hand. Everything goes through the command line and SQL, as such a team would.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommandResult, runCommand } from '../../cli/support/run-command.ts'
import { type CommandFolder, openCommandFolder } from '../../migrate/command-folder.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'

let commands: CommandFolder
beforeEach(async () => {
  commands = await openCommandFolder()
  await commands.database.pool.query(clipTables)
})
afterEach(() => commands.close())

const rows = async (text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await commands.database.pool.query(text, params)).rows

/** `QUEUE_MAX_ATTEMPTS=5 unstuck …` */
const withFive = (...args: string[]): Promise<CommandResult> =>
  runCommand(
    [...args, '--profile', 'clip'],
    { DATABASE_URL: commands.database.url, QUEUE_MAX_ATTEMPTS: '5' },
    commands.folder,
  )
const clip = (...args: string[]) => commands.run(...args, '--profile', 'clip')

async function attach(): Promise<void> {
  await clip('attach', '--features', 'max-attempts')
  await clip('mode', 'reap')
}

async function insertJob(table = 'jobs', fields = 'status', values = `'queued'`): Promise<string> {
  const [row] = await rows(`insert into ${table} (${fields}) values (${values}) returning id`)
  return String(row?.['id'])
}

/** The claim of a worker that counts, two hours ago and silent since. */
const oldClaim = (table = 'jobs', counts = true) =>
  rows(
    `update ${table} set status = 'processing', started_at = now() - interval '2 h', last_heartbeat_at = null,
            updated_at = now() - interval '2 h', attempt_count = attempt_count + ${counts ? 1 : 0}
      where status = 'queued'`,
  )

interface JobState {
  status: unknown
  attempts: unknown
  wait_s: number | null
}

const read = async (id: string, table = 'jobs'): Promise<JobState> => {
  const [row] = await rows(
    `select status, attempt_count as attempts, round(extract(epoch from next_earliest_run_at - now()) / 30) * 30 as wait_s
       from ${table} where id = $1`,
    [id],
  )
  const { status, attempts, wait_s: wait } = row ?? {}
  return { status, attempts, wait_s: wait == null ? null : Number(wait) }
}

const sweep = (table: string) => rows(`select unstuck.sweep_jobs__${table}()`)

describe('QUEUE_MAX_ATTEMPTS on an attached table', () => {
  it('OPS-8 counts for rows that the team inserts: five attempts, and not the three of a column default', async () => {
    await attach()
    const id = await insertJob()
    const statuses: unknown[] = []
    for (let round = 1; round <= 5; round++) {
      await oldClaim()
      await withFive('reap', '--once')
      statuses.push((await read(id)).status)
    }
    expect(statuses).toEqual(['queued', 'queued', 'queued', 'queued', 'failed'])
    expect(await rows('select max_attempts from jobs')).toEqual([{ max_attempts: null }])
  })

  it('OPS-8 is written into the row by an enqueue of ours', async () => {
    await attach()
    await rows(`select unstuck.enqueue_jobs__jobs('[{"type": "clip"}]', '{"max_attempts": 5}')`)
    expect(await rows('select max_attempts from jobs')).toEqual([{ max_attempts: 5 }])
  })

  it('OPS-8 gives way to a column of the team’s own, as in document 001, and doctor says so', async () => {
    await rows('alter table jobs add column max_attempts int not null default 3')
    const id = await insertJob('jobs', 'status, attempt_count', `'queued', 2`)
    await attach()
    const { stdout } = await withFive('doctor')
    expect(stdout).toContain(
      'public.jobs: max_attempts 3 (1 unfinished job, the column default) overrides 5 of the policy',
    )
    expect(stdout).toContain('alter table public.jobs alter column max_attempts set default 5')
    await oldClaim()
    await withFive('reap', '--once')
    expect(await read(id)).toMatchObject({ status: 'failed', attempts: 3 })
  })

  it('OPS-8 the default of a column of the team’s is left alone by an upgrade', async () => {
    await rows('alter table jobs add column max_attempts int not null default 3')
    await attach()
    await clip('migrate', 'up')
    expect(
      await rows(`select is_nullable, column_default from information_schema.columns
                   where table_name = 'jobs' and table_schema = 'public' and column_name = 'max_attempts'`),
    ).toEqual([{ is_nullable: 'NO', column_default: '3' }])
  })
})

describe('waiting rows of a team', () => {
  it('C10 C29 are not ended by a sweep, whatever their attempts, and a claim takes them', async () => {
    await attach()
    const ids = [
      await insertJob('jobs', 'status, attempt_count', `'queued', 3`),
      await insertJob('jobs', 'status, attempt_count', `'queued', 4`),
    ]
    const dry = JSON.parse((await clip('reap', '--dry-run', '--json')).stdout)
    expect(dry.tables[0]).toEqual({ table: 'jobs', wouldReap: [] })
    await clip('reap', '--once')
    await rows('call unstuck.run_sweep__jobs()')
    expect(await rows('select * from unstuck.bury_jobs__jobs()')).toEqual([])
    expect(await rows('select status from jobs')).toEqual([{ status: 'queued' }, { status: 'queued' }])
    const why = await clip('why', ids[0] ?? '')
    expect(why.stdout).not.toContain('BUDGET_SPENT')
    const claimed = await rows(`select id from unstuck.claim_jobs__jobs('w', array['clip'], 10)`)
    expect(new Set(claimed.map(({ id }) => id))).toEqual(new Set(ids))
  })

  it('C29 are not counted as lost in mode observe', async () => {
    await attach()
    await insertJob('jobs', 'status, attempt_count', `'queued', 7`)
    await clip('mode', 'observe')
    await rows('call unstuck.run_sweep__jobs()')
    expect(await rows('select would_dead_letter from unstuck.read_observations__jobs()')).toEqual([
      { would_dead_letter: 0 },
    ])
  })

  it.each([
    ['fails', 'failed'],
    ['is lost', 'failed'],
    ['succeeds', 'completed'],
  ])(
    'C10 one that an operator puts back by hand runs once more, and where it %s it is %s',
    async (end, status) => {
      await attach()
      const id = await insertJob('jobs', 'status, attempt_count', `'failed', 3`)
      await rows(`update jobs set status = 'queued' where id = $1`, [id])
      await sweep('jobs')
      const [lease] = await rows(`select lease_id from unstuck.claim_job__jobs($1, 'worker-1')`, [id])
      const leaseId = lease?.['lease_id']
      expect(leaseId).toEqual(expect.any(String))
      if (end === 'fails')
        await rows(
          `select unstuck.fail_jobs__jobs(jsonb_build_array(jsonb_build_object('id', $1::text, 'lease_id', $2::text)))`,
          [id, leaseId],
        )
      if (end === 'succeeds')
        await rows(`select unstuck.complete_jobs__jobs(array[$1::uuid], array[$2::uuid])`, [id, leaseId])
      if (end === 'is lost') {
        await rows(`update jobs set lease_expires_at = now() - interval '1 s' where id = $1`, [id])
        await sweep('jobs')
      }
      expect(await read(id)).toMatchObject({ status })
    },
  )
})
