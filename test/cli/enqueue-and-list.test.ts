import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { JobCommands } from './support/job-commands.ts'
import { noTerminal, openTerminal } from './support/pseudo-terminal.ts'

const bench = new JobCommands()
const { run, runJson, enqueue, die } = bench

describe('jobs list', () => {
  it('OPS-8 --where takes the filter of the bulk commands, beside the flags', async () => {
    const [asr, other] = [await enqueue({ owner: 'ann' }), await enqueue({ type: 'burn', owner: 'ann' })]
    await enqueue({ owner: 'bob' })
    const ids = async (...args: string[]) => {
      const { tables } = (await runJson('jobs', 'list', ...args)) as { tables: { jobs: { id: string }[] }[] }
      return tables.flatMap(({ jobs }) => jobs.map(({ id }) => id))
    }
    expect(await ids('--where', 'owner:ann status:waiting')).toEqual([other, asr])
    expect(await ids('--where', 'owner:ann', '--type', 'asr')).toEqual([asr])
    const exported = await run('jobs', 'export', '--where', 'type:burn')
    expect(exported.stdout.trim().split('\n')).toHaveLength(1)
  })

  it.each([
    [['--where', 'colour:red'], /where: unknown key colour[\s\S]*At character 1: colour:red/],
    [['--where', ''], /where.*at least one key:value/],
    [['--where', 'type:asr', '--type', 'burn'], /where.*nothing that a flag sets too/],
  ])('OPS-8 %j is refused with what is wrong', async (args, message) => {
    const { exitCode, stderr } = await run('jobs', 'list', ...args)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })

  it.skipIf(noTerminal !== null).each([80, 120, 200])('OPS-8 fits %i columns', async (columns) => {
    const jobId = await die('GW_5XX', 'the gateway did not answer within the time that it was given, again')
    const options = { env: { DATABASE_URL: bench.database.url }, columns }
    const terminal = openTerminal(['jobs', 'list'], options)
    expect(await terminal.ended).toBe(0)
    const lines = stripVTControlCharacters(terminal.raw()).split('\r\n')
    expect(lines.some((line) => line.includes(jobId))).toBe(true)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
  })
})

describe('enqueue', () => {
  it('OPS-8 enqueues a job with the fields of the HTTP API', async () => {
    const fields = ['--queue', 'slow', '--priority', '-5', '--delay', '10m', '--owner', 'ann']
    const answer = await runJson('enqueue', 'asr', '{ "clip": 42 }', ...fields, '--dedupe-key', 'clip-42')
    expect(answer).toEqual({ id: expect.any(String), table: 'jobs', outcome: 'created' })
    const job = await bench.store.getJob(String(answer['id']))
    expect(job).toMatchObject({
      type: 'asr',
      queue: 'slow',
      priority: -5,
      owner: 'ann',
      payload: { clip: 42 },
      status: 'waiting',
    })
    const delayMs = (job?.runAt?.getTime() ?? 0) - (job?.createdAt.getTime() ?? 0)
    expect(delayMs).toBe(600_000)
    const again = await run('enqueue', 'asr', '--dedupe-key', 'clip-42')
    expect(again.stdout).toContain(`job ${String(answer['id'])} in jobs: already has this dedupe key`)
  })

  it('FAIL-8 OPS-8 enqueues a job with an expiry, a maximum and a rule for its dedupe key', async () => {
    const rules = ['--ttl', '10m', '--max-attempts', '7', '--dedupe-key', 'clip-42']
    const answer = await runJson('enqueue', 'asr', '{ "clip": 1 }', ...rules, '--replace')
    const job = await bench.store.getJob(String(answer['id']))
    expect(job).toMatchObject({ maxAttempts: 7, dedupeKey: 'clip-42' })
    expect((job?.expiresAt?.getTime() ?? 0) - (job?.createdAt.getTime() ?? 0)).toBe(600_000)
    const again = await runJson('enqueue', 'asr', '{ "clip": 2 }', '--dedupe-key', 'clip-42', '--replace')
    expect(again).toMatchObject({ id: answer['id'], outcome: 'replaced' })
    const throttled = ['enqueue', 'mail', '--dedupe-key', 'ana', '--dedupe-for', '1h']
    expect(await runJson(...throttled)).toMatchObject({ outcome: 'created' })
    await bench.database.pool.query(`delete from unstuck.jobs where type = 'mail'`)
    expect(await runJson(...throttled)).toMatchObject({ outcome: 'duplicate' })
  })

  it('OPS-8 needs a type only, and names the next command', async () => {
    const { exitCode, stdout } = await run('enqueue', 'asr')
    const [, jobId = ''] = /^job (\S+) in jobs: enqueued\nNext: {2}unstuck why \1\n$/.exec(stdout) ?? []
    expect(exitCode).toBe(0)
    expect(await bench.store.getJob(jobId)).toMatchObject({ type: 'asr', queue: 'asr', status: 'waiting' })
  })

  it.each([
    [['asr', '{clip: 42}'], /payload: not JSON\n +Quote it for the shell/],
    [['asr', '--priority', 'high'], /--priority.*Must be a whole number/],
    [['asr', '--delay', 'soon'], /--delay.*Must be a duration/],
    [['asr', '--ttl', 'soon'], /--ttl.*Must be a duration/],
    [['asr', '--delay', '2h', '--ttl', '1h'], /ttl_?ms/i],
    [['asr', '--max-attempts', '0'], /max_?attempts/i],
    [['asr', '--replace'], /--dedupe-key: got undefined, takes a key beside --dedupe-for and --replace/],
    [['asr', '--dedupe-key', 'a', '--replace', '--dedupe-for', '1h'], /replace/],
    [['asr', '--queue', ''], /queue/],
    [['asr', '--owner', 'x'.repeat(201)], /owner/],
    [[''], /type/],
    [[], /missing required argument 'type'/],
    [['asr', '--table', 'clips'], /--table.*clips/],
  ])('OPS-8 %j is refused with what is wrong', async (args, message) => {
    const { exitCode, stderr } = await run('enqueue', ...args)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)])
    const { rows } = await bench.database.pool.query('select 1 from unstuck.jobs')
    expect(rows).toEqual([])
  })
})

describe('short ids', () => {
  it('OPS-8 the end of an id, as top shows it, is refused with where the whole id is', async () => {
    const jobId = await enqueue()
    for (const command of [['why'], ['jobs', 'get'], ['jobs', 'cancel', '--reason', 'x']]) {
      const { exitCode, stderr } = await run(...command, `…${jobId.slice(-12)}`)
      expect(exitCode).toBe(2)
      expect(stderr).toContain('this is the end of an id')
      expect(stderr).toContain('unstuck jobs list')
    }
    expect(await bench.store.getJob(jobId)).toMatchObject({ status: 'waiting' })
  })
})
