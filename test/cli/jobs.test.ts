import { describe, expect, it, onTestFinished } from 'vitest'
import { JobCommands } from './support/job-commands.ts'

const bench = new JobCommands()
const { run, runJson, enqueue, die, statusOf } = bench

describe('reap', () => {
  it('REAP-11 --once and --dry-run sweep the table that --table names, and no other', async () => {
    const clip = ['--profile', 'clip', '--json']
    const names = async (...args: string[]) => {
      const { exitCode, stdout } = await run('reap', ...args, ...clip)
      const { tables } = JSON.parse(stdout) as { tables: { table: string }[] }
      return [exitCode, ...tables.map(({ table }) => table)]
    }
    expect(await names('--once')).toEqual([0, 'jobs', 'asr_jobs'])
    expect(await names('--once', '--table', 'asr_jobs')).toEqual([0, 'asr_jobs'])
    expect(await names('--dry-run', '--table', 'jobs')).toEqual([0, 'jobs'])
    expect(await run('reap', '--once', '--table', 'nope', ...clip)).toMatchObject({ exitCode: 2 })
  })
})

describe('mode', () => {
  it('SEE-8 a change is in the audit log with who and why, and a mode that stays is not', async () => {
    onTestFinished(async () => void (await bench.store.setMode('reap')))
    const audit = async () =>
      (
        await bench.database.pool.query<{ actor: string; subject: string; reason: string | null }>(
          "select actor, subject, reason from unstuck.audit_entries where type = 'mode-changed' order by id",
        )
      ).rows
    await run('mode', 'observe', '--actor', 'ana', '--reason', 'first week')
    await run('mode', 'observe', '--actor', 'ben')
    expect(await audit()).toEqual([{ actor: 'ana', subject: 'observe', reason: 'first week' }])
  })

  it('OPS-7 a job that only renewed its lease after a sweep is shown as still alive, not as finished', async () => {
    const jobId = await enqueue()
    const [claimed] = await bench.store.claimJobs({ workerId: 'slow', queues: ['asr'], limit: 1 })
    if (claimed === undefined) throw new Error('nothing was claimed')
    await bench.store.setMode('observe')
    onTestFinished(async () => void (await bench.store.setMode('reap')))
    await bench.database.pool.query(`update unstuck.jobs set lease_expires_at = now() - interval '1 s'`)
    await bench.store.sweepJobs({ reaper: { reaperId: 'observer' } })
    expect((await run('mode')).stdout).toMatch(/would requeue +1 +still alive +0[^]*still stuck +1/)
    await bench.store.heartbeatJobs([claimed])
    const { stdout } = await run('mode')
    expect(stdout).toMatch(/would requeue +1 +still alive +1[^]*still stuck +0/)
    expect(stdout).not.toContain('finished later')
    expect(await statusOf(jobId)).toBe('running')
  })
})

describe('jobs', () => {
  it('OPS-9 list shows the newest first, narrowed by its flags, page by page', async () => {
    const dead = await die('GW_5XX', '502 from gateway')
    const waiting = await enqueue()
    const all = await run('jobs', 'list')
    expect(all).toMatchObject({ exitCode: 0, stderr: '' })
    expect(all.stdout.indexOf(waiting)).toBeLessThan(all.stdout.indexOf(dead))
    expect(all.stdout).toContain('GW_5XX: 502 from gateway')
    expect((await run('jobs', 'list', '--status', 'dead')).stdout).not.toContain(waiting)
    const page = await run('jobs', 'list', '--limit', '1')
    expect(page.stdout).toContain(`--cursor ${waiting}`)
    const next = await run('jobs', 'list', '--limit', '1', '--cursor', waiting)
    expect(next.stdout).toContain(dead)
    expect((await run('jobs', 'list', '--owner', 'nobody')).stdout).toBe('no matching jobs\n')
    expect(await run('jobs', 'list', '--status', 'stuck')).toMatchObject({ exitCode: 2 })
    expect(await run('jobs', 'list', '--table', 'other')).toMatchObject({ exitCode: 2 })
  })

  it('OPS-9 get shows a job and its events, and the payload on request', async () => {
    const jobId = await die('GW_5XX', '502 from gateway')
    const plain = await run('jobs', 'get', jobId)
    expect(plain.stdout).toContain('502 from gateway')
    expect(plain.stdout).toMatch(/failed .*GW_5XX/)
    expect(plain.stdout).not.toContain('x1')
    expect((await run('jobs', 'get', jobId, '--payload')).stdout).toContain('x1')
    expect(await runJson('jobs', 'get', jobId)).toMatchObject({
      table: 'jobs',
      job: { id: jobId, status: 'dead' },
      events: [{ type: 'failed' }],
    })
  })

  it('OPS-9 the beginning of an id will do, if it is the beginning of one', async () => {
    const ids = ['abcd1234-0000-4000-8000-000000000001', 'abcd9999-0000-4000-8000-000000000002']
    for (const id of ids)
      await bench.database.pool.query(`insert into unstuck.jobs (id, type) values ($1, 'asr')`, [id])
    expect((await run('jobs', 'get', 'abcd1')).stdout).toContain(ids[0])
    const both = await run('jobs', 'get', 'abcd')
    expect(both.exitCode).toBe(2)
    for (const id of ids) expect(both.stderr).toContain(id)
    expect(await run('jobs', 'get', 'abc')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('4 characters'),
    })
    expect(await run('jobs', 'get', 'ffff')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no id starts with this'),
    })
  })

  it('OPS-1 retry requeues a dead job with actor and reason, and refuses other jobs', async () => {
    const jobId = await die('GW_5XX', 'bad')
    const reason = ['--reason', 'gateway fixed', '--actor', 'ana']
    expect(await run('jobs', 'retry', jobId, ...reason)).toMatchObject({ exitCode: 0 })
    expect(await statusOf(jobId)).toBe('waiting')
    const events = await bench.store.listEvents(jobId)
    expect(events.at(-1)?.data.details).toMatchObject({ actor: 'ana', reason: 'gateway fixed' })
    const again = await run('jobs', 'retry', jobId, ...reason)
    expect(again).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('not dead') })
    expect(await run('jobs', 'retry', jobId)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--reason'),
    })
  })

  it('OPS-1 retry --now ends the backoff of a waiting job', async () => {
    const jobId = await enqueue({ delayMs: 3_600_000 })
    const { exitCode, stdout } = await run('jobs', 'retry', jobId, '--now', '--reason', 'urgent')
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('due now') })
    expect(await bench.store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })).toHaveLength(1)
  })

  it('OPS-1 one wrong id among several changes nothing', async () => {
    const jobId = await die('GW_5XX', 'bad')
    expect(await run('jobs', 'retry', jobId, 'ffffffff', '--reason', 'r')).toMatchObject({ exitCode: 1 })
    expect(await statusOf(jobId)).toBe('dead')
  })

  it('WORK-6 cancel ends waiting jobs and asks running ones', async () => {
    const running = await enqueue()
    await bench.store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })
    const waiting = await enqueue()
    const answer = await runJson('jobs', 'cancel', running, waiting, '--reason', 'wrong file')
    expect(answer['jobs']).toEqual([
      { table: 'jobs', jobId: running, outcome: 'cancel-requested' },
      { table: 'jobs', jobId: waiting, outcome: 'cancelled' },
    ])
  })

  it('OPS-9 discard wants --yes where nobody can be asked, and never deletes a running job', async () => {
    const dead = await die('GW_5XX', 'bad')
    const asked = await run('jobs', 'discard', dead, '--reason', 'test data')
    expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') })
    expect(await statusOf(dead)).toBe('dead')
    const running = await enqueue()
    await bench.store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1 })
    const done = await run('jobs', 'discard', dead, running, '--reason', 'test data', '--yes')
    expect(done).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('cancel it first') })
    expect(await statusOf(dead)).toBeNull()
    expect(await statusOf(running)).toBe('running')
    expect(await run('jobs', 'get', dead)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/discarded .* by .*: test data/),
    })
  })

  it('OPS-9 export writes one job in a line', async () => {
    const ids = [await enqueue(), await enqueue(), await enqueue()]
    const { stdout } = await run('jobs', 'export', '--payload')
    const jobs = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; payload: unknown })
    expect(jobs.map(({ id }) => id)).toEqual(ids.toReversed())
    expect(jobs[0]?.payload).toEqual({ secret: '[redacted]' })
    expect((await run('jobs', 'export')).stdout).not.toContain('x1')
  })

  it('OPS-9 all tables of a profile are searched', async () => {
    await bench.database.pool.query(
      `insert into asr_jobs (id, status) values ('cccc0000-0000-4000-8000-000000000001', 'queued');
       insert into jobs (id, status) values ('dddd0000-0000-4000-8000-000000000001', 'failed')`,
    )
    const list = await run('jobs', 'list', '--profile', 'clip')
    expect(list.stdout).toMatch(/asr_jobs +cccc0000/)
    expect(list.stdout).toMatch(/jobs +dddd0000.*dead/)
    expect(await run('jobs', 'get', 'cccc', '--profile', 'clip')).toMatchObject({ exitCode: 0 })
    expect(await run('jobs', 'get', 'cccc', '--profile', 'clip', '--table', 'jobs')).toMatchObject({
      exitCode: 1,
    })
    const group = await runJson('dead', 'list', '--profile', 'clip')
    expect(group['groups']).toMatchObject([{ table: 'jobs', jobs: 1 }])
  })
})

describe('why', () => {
  it('OPS-9 shows what blocks a waiting job, and what to do', async () => {
    const jobId = await enqueue({ delayMs: 3_600_000 })
    await bench.store.mapDependency('asr', 'gateway')
    await bench.store.holdBreaker('gateway', { actor: 'ana', reason: 'vendor asked' })
    const { exitCode, stdout } = await run('why', jobId)
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`job ${jobId}  asr  waiting, attempt 0 of 3`)
    expect(stdout).toMatch(/✗ BREAKER_HELD +gateway.* by ana: vendor asked/)
    expect(stdout).toMatch(/✗ SCHEDULED/)
    expect(stdout).toContain('✓ queue not paused')
    expect(stdout).toContain('Next:  unstuck breaker resume gateway --reason …')
    expect(await runJson('why', jobId)).toMatchObject({ table: 'jobs', verdict: 'blocked', runsInMs: null })
  })

  it('LEASE-8 shows how far a running job has come, as do jobs get and jobs list', async () => {
    const jobId = await enqueue()
    const claimed = await bench.store.claimJob(jobId, { workerId: 'worker-9' })
    if (claimed === 'not-claimable') throw new Error('not claimed')
    await bench.store.reportProgress([{ ...claimed, value: 0.29, text: 'page 9\nof 31' }])
    const shown = '29 %: page 9 of 31'
    expect((await run('why', jobId)).stdout).toContain(`\nprogress ${shown}\n`)
    expect((await run('jobs', 'get', jobId)).stdout).toMatch(new RegExp(`progress +${shown}`))
    expect((await run('jobs', 'list')).stdout).toContain(shown)
    expect(await runJson('jobs', 'get', jobId)).toMatchObject({
      job: { progress: { value: 0.29, text: 'page 9\nof 31' } },
    })
  })

  it('C13 names the session that has the row locked', async () => {
    const jobId = await enqueue()
    const client = await bench.database.connect()
    await client.query('begin')
    await client.query('select from unstuck.jobs where id = $1 for update', [jobId])
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    expect((await run('why', jobId)).stdout).toContain(`by pid ${rows[0]?.pid}`)
    await client.query('rollback')
    expect((await run('why', jobId)).stdout).toContain('The next free worker takes it.')
  })

  it('OPS-9 says that there is no such job', async () => {
    expect(await run('why', 'ffffffff')).toMatchObject({ exitCode: 1, stdout: '' })
  })
})

describe('jobs --where', () => {
  it('OPS-9 retry, cancel and discard take all that fit, and no others', async () => {
    const dead = [await die('GW_5XX', 'a'), await die('GW_5XX', 'b')]
    const other = await die('NOT_PDF', 'c')
    const why = ['--reason', 'INC-431', '--yes']
    const retried = await run('jobs', 'retry', '--where', 'error:GW_5XX', '--expect', '2', ...why)
    expect(retried).toMatchObject({ exitCode: 0, stdout: 'jobs: 2 of 2 jobs retried\n' })
    expect(await Promise.all([...dead, other].map(statusOf))).toEqual(['waiting', 'waiting', 'dead'])
    expect(
      await runJson('jobs', 'cancel', '--where', 'status:waiting', '--limit', '1', ...why),
    ).toMatchObject({
      tables: [{ table: 'jobs', total: 1, changed: 1, stopped: null }],
    })
    expect(await Promise.all(dead.map(statusOf))).toEqual(['cancelled', 'waiting'])
    expect(await run('jobs', 'discard', '--where', 'type:asr', ...why)).toMatchObject({ exitCode: 0 })
    expect(await Promise.all([...dead, other].map(statusOf))).toEqual([null, null, null])
  })

  it('OPS-9 retry --now ends the wait of those that fit', async () => {
    const later = await enqueue({ runAt: new Date(Date.now() + 3_600_000) })
    const hurried = await run('jobs', 'retry', '--where', 'type:asr', '--now', '--reason', 'r', '--yes')
    expect(hurried).toMatchObject({ exitCode: 0, stdout: 'jobs: 1 of 1 jobs are due now\n' })
    expect((await bench.store.getJob(later))?.runAt?.getTime()).toBeLessThan(Date.now() + 600_000)
  })

  it('OPS-9 does nothing unasked, and points at a wrong token', async () => {
    const jobId = await enqueue()
    const why = ['--reason', 'r']
    const cancel = (...args: string[]) => run('jobs', 'cancel', ...args, ...why)
    expect(await cancel('--where', 'type:asr')).toMatchObject({ exitCode: 2 })
    expect(await cancel('--where', 'type:asr', '--expect', '9', '--yes')).toMatchObject({ exitCode: 4 })
    expect(await cancel('--where', 'type:asr', '--dry-run')).toMatchObject({ exitCode: 0 })
    expect(await cancel('--where', 'type:none', '--yes')).toMatchObject({ exitCode: 1 })
    expect(await cancel('--where', ' ', '--yes')).toMatchObject({ exitCode: 2 })
    expect(await cancel('--yes')).toMatchObject({ exitCode: 2 })
    expect(await cancel(jobId, '--where', 'type:asr', '--yes')).toMatchObject({ exitCode: 2 })
    expect(await cancel('--where', 'type:asr colour:red', '--yes')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/where: unknown key colour; use .*\n *At character 10: colour:red/),
    })
    expect(await statusOf(jobId)).toBe('waiting')
  })
})

describe('words', () => {
  const commands = 'list get retry cancel discard export'.split(' ').map((verb) => `jobs ${verb}`)
  it.each([...commands, 'why', 'dead list', 'dead show', 'dead redrive', 'dead discard'])(
    'OPS-9 the help of %s has an example',
    async (command) => {
      const { stdout } = await run(...command.split(' '), '--help')
      expect(stdout).toContain(`$ unstuck ${command}`)
    },
  )
})
