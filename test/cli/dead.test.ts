import { describe, expect, it } from 'vitest'
import { JobCommands } from './support/job-commands.ts'
import { startCommand } from './support/run-command.ts'

const bench = new JobCommands()
const { run, runJson, die, statusOf } = bench

describe('dead', () => {
  const reason = ['--reason', 'gateway fixed']

  async function causeOf(jobId: string): Promise<string> {
    const { jobs } = await bench.store.listJobs({ status: 'dead' })
    return jobs.find(({ id }) => id === jobId)?.causeId ?? ''
  }

  it('OPS-9 list groups by cause, and show lists the jobs of one', async () => {
    const first = await die('GW_5XX', '502 from gateway at POST https://a.example/1')
    await die('GW_5XX', '503 from gateway at POST https://b.example/2')
    const other = await die('NOT_PDF', 'not a PDF')
    const list = await run('dead', 'list')
    expect(list.stdout).toMatch(new RegExp(`${await causeOf(first)} +GW_5XX +TRANSIENT +2 `))
    const show = await run('dead', 'show', await causeOf(first))
    expect(show.stdout).toContain(first)
    expect(show.stdout).not.toContain(other)
    expect(await run('dead', 'show', 'ffffffff')).toMatchObject({ exitCode: 1 })
  })

  it('OPS-9 redrive retries the jobs of one cause, with progress on stderr', async () => {
    const ids = [await die('GW_5XX', 'bad 1'), await die('GW_5XX', 'bad 2')]
    const other = await die('NOT_PDF', 'not a PDF')
    const cause = await causeOf(ids[0] ?? '')
    const redrive = await run(
      'dead',
      'redrive',
      cause,
      '--rate',
      '100/s',
      '--expect',
      '2',
      ...reason,
      '--yes',
    )
    expect(redrive).toMatchObject({ exitCode: 0, stdout: 'jobs: 2 of 2 jobs retried\n' })
    expect(redrive.stderr).toContain('jobs: 2/2')
    for (const id of ids) expect(await statusOf(id)).toBe('waiting')
    expect(await statusOf(other)).toBe('dead')
  })

  it('OPS-9 redrive does nothing unasked: no --yes, another number than expected, no cause', async () => {
    const jobId = await die('GW_5XX', 'bad')
    const cause = await causeOf(jobId)
    expect(await run('dead', 'redrive', cause, ...reason)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('1 jobs match'),
    })
    expect(await run('dead', 'redrive', cause, '--expect', '5', ...reason, '--yes')).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('1 jobs match, expected 5'),
    })
    expect(await run('dead', 'redrive', ...reason, '--yes')).toMatchObject({ exitCode: 2 })
    expect(await run('dead', 'redrive', 'ffffffff', ...reason, '--yes')).toMatchObject({ exitCode: 1 })
    expect(await statusOf(jobId)).toBe('dead')
  })

  it('OPS-9 redrive --all with a limit takes the oldest', async () => {
    const ids = [await die('A', 'a'), await die('B', 'b'), await die('C', 'c')]
    expect(await run('dead', 'redrive', '--all', '--limit', '2', ...reason, '--yes')).toMatchObject({
      exitCode: 0,
    })
    expect(await Promise.all(ids.map(statusOf))).toEqual(['waiting', 'waiting', 'dead'])
  })

  it('OPS-9 a canary that fails stops the redrive with exit code 1', async () => {
    const ids = [await die('GW_5XX', 'bad 1'), await die('GW_5XX', 'bad 2')]
    const cause = await causeOf(ids[0] ?? '')
    const redrive = startCommand(['dead', 'redrive', cause, '--canary', '1', ...reason, '--yes', '--json'], {
      DATABASE_URL: bench.database.url,
    })
    await expect.poll(() => statusOf(ids[0] ?? ''), { timeout: 30_000 }).toBe('waiting')
    const [canary] = await bench.store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })
    if (canary === undefined) throw new Error('the canary cannot be claimed')
    await bench.store.failJobs([{ ...canary, code: 'GW_5XX' }])
    const { exitCode, stdout } = await redrive.result
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      tables: [{ table: 'jobs', stopped: 'canary-failed', changed: 1, total: 2 }],
    })
    expect(await statusOf(ids[1] ?? '')).toBe('dead')
  })

  it('OPS-9 Ctrl-C ends a redrive with what is done', async () => {
    for (let n = 0; n < 3; n++) await die('GW_5XX', `bad ${n}`)
    const redrive = startCommand(
      ['dead', 'redrive', '--all', '--rate', '0.01/s', ...reason, '--yes', '--json'],
      {
        DATABASE_URL: bench.database.url,
      },
    )
    const waiting = async () => (await bench.store.listJobs({ status: 'waiting' })).jobs.length
    await expect.poll(waiting, { timeout: 30_000 }).toBe(1)
    redrive.kill('SIGINT')
    const { exitCode, stdout } = await redrive.result
    expect(exitCode).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ tables: [{ stopped: 'interrupted', changed: 1 }] })
  })

  it('OPS-9 a dry run counts the jobs and retries none', async () => {
    const jobId = await die('GW_5XX', 'bad')
    const plan = await run('dead', 'redrive', '--all', '--dry-run', ...reason)
    expect(plan).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 jobs match') })
    expect(await runJson('dead', 'redrive', '--all', '--dry-run', ...reason)).toMatchObject({ count: 1 })
    expect(await statusOf(jobId)).toBe('dead')
  })

  it('OPS-9 a redrive whose process is killed is left for whoever takes it, with what is done', async () => {
    const ids = [await die('GW_5XX', 'bad 1'), await die('GW_5XX', 'bad 2')]
    const redrive = startCommand(['dead', 'redrive', '--all', '--rate', '0.01/s', ...reason, '--yes'], {
      DATABASE_URL: bench.database.url,
    })
    await expect.poll(() => statusOf(ids[0] ?? ''), { timeout: 30_000 }).toBe('waiting')
    redrive.kill('SIGKILL')
    await redrive.result
    await bench.database.pool.query(
      'update unstuck.operations set lease_expires_at = now() where lease_id is not null',
    )
    const left = await bench.store.takeOperation()
    expect(left?.operation).toMatchObject({ action: 'redrive', changed: 1, total: 2, state: 'running' })
    await bench.store.abortOperation(left?.operation.id ?? '')
  })

  it('OPS-9 mark says what people think of a cause, and list shows it', async () => {
    const cause = await causeOf(await die('GW_5XX', 'bad'))
    expect(await run('dead', 'mark', cause, '--as', 'resolved', ...reason)).toMatchObject({
      exitCode: 0,
      stdout: `jobs: ${cause} is resolved\n`,
    })
    await die('GW_5XX', 'bad')
    expect((await run('dead', 'list')).stdout).toMatch(/ 2 +resolved, back (?:now|.* ago)/)
    expect(await run('dead', 'mark', cause, '--as', 'gone')).toMatchObject({ exitCode: 2 })
    expect(await run('dead', 'mark', 'ffffffff', '--as', 'new')).toMatchObject({ exitCode: 1 })
    await run('dead', 'mark', cause, '--as', 'new')
  })

  it('OPS-9 discard deletes the jobs of one cause', async () => {
    const ids = [await die('GW_5XX', 'bad 1'), await die('GW_5XX', 'bad 2')]
    const other = await die('NOT_PDF', 'not a PDF')
    const cause = await causeOf(ids[0] ?? '')
    expect(await run('dead', 'discard', cause, '--reason', 'old')).toMatchObject({ exitCode: 2 })
    expect(await run('dead', 'discard', cause, '--reason', 'old', '--yes')).toMatchObject({
      exitCode: 0,
      stdout: 'jobs: 2 of 2 jobs deleted\n',
    })
    expect(await Promise.all([...ids, other].map(statusOf))).toEqual([null, null, 'dead'])
  })
})
