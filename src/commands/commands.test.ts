// Commands over the memory store. The tests of the HTTP API cover them over real requests.
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import { type Actor, type Role, roles } from './actor.ts'
import type { CommandContext } from './command.ts'
import { listDeadLetters } from './jobs/dead-letter-commands.ts'
import { cancelJob, explainJob, listJobs, readJob, retryJob } from './jobs/job-commands.ts'
import { type CommandName, commandNames, refusalOf } from './permissions.ts'
import { pauseQueue, resumeQueue, sweep } from './queue-control-commands.ts'
import { drainWorker } from './worker-commands.ts'

const store = createMemoryStore()
const context = (actor: Partial<Actor> & { role?: Role } = {}, isReadOnly = false): CommandContext => ({
  actor: { id: 'ana', scopes: roles[actor.role ?? 'admin'], ...actor },
  isReadOnly,
  tables: [{ name: 'jobs', store }],
})

describe('commands', () => {
  it('OPS-1 a refused one reaches no store', async () => {
    const untouchable = {
      name: 'jobs',
      store: new Proxy(store, { get: () => expect.unreachable('was asked') }),
    }
    const refusing = { ...context({ role: 'viewer' }), tables: [untouchable] as const }
    for (const act of [retryJob, cancelJob])
      expect(await act(refusing, { id: 'x' })).toMatchObject({
        isDone: false,
        refusal: { code: 'FORBIDDEN' },
      })
    const readOnly = { ...context({}, true), tables: [untouchable] as const }
    expect(await sweep(readOnly, {})).toMatchObject({ refusal: { code: 'READ_ONLY' } })
    expect(await pauseQueue(readOnly, { name: 'q' })).toMatchObject({ refusal: { code: 'READ_ONLY' } })
  })

  it('WORK-4 a worker that serves several tables is asked to leave in all of them', async () => {
    const stores = [createMemoryStore(), createMemoryStore(), createMemoryStore()] as const
    const [first, second, third] = stores
    const worker = {
      workerId: 'w1',
      isStart: true,
      types: ['a'],
      concurrency: 1,
      running: 0,
      reportMs: 5_000,
    }
    await first.reportWorker({ ...worker, phase: 'stopped' })
    await second.reportWorker({ ...worker, phase: 'running' })
    await third.reportWorker({ ...worker, phase: 'running' })
    const tables = stores.map((one, index) => ({ name: `t${index}`, store: one }))
    const several = { ...context(), tables: tables as unknown as CommandContext['tables'] }
    expect(await drainWorker(several, { workerId: 'w1' })).toMatchObject({
      value: { table: 't1', outcome: 'asked' },
    })
    expect(await third.drainWorker('w1')).toBe('already-asked')
  })

  it('BREAK-2 a queue is paused in the one table that has it, and in the first where that is not clear', async () => {
    const stores = [createMemoryStore(), createMemoryStore()] as const
    const tables = stores.map((one, index) => ({ name: `t${index}`, store: one }))
    const several = { ...context(), tables: tables as unknown as CommandContext['tables'] }
    await stores[0].enqueueJobs([{ type: 'both' }])
    await stores[1].enqueueJobs([{ type: 'both' }, { type: 'asr' }])
    const paused = async (name: string, table?: string) =>
      (await pauseQueue(several, { name, table })) as { value?: { table: string } }
    expect((await paused('asr')).value).toMatchObject({ table: 't1', isChanged: true })
    expect(await resumeQueue(several, { name: 'asr' })).toMatchObject({
      value: { table: 't1', isChanged: true },
    })
    for (const name of ['both', 'nobody']) expect((await paused(name)).value?.table).toBe('t0')
    expect((await paused('asr', 't0')).value?.table).toBe('t0')
  })

  it('OPS-1 a role includes the permissions of every smaller one', () => {
    const mayUse = (role: Role) => (name: CommandName) =>
      refusalOf(name, { actor: { id: 'ana', scopes: roles[role] }, isReadOnly: false }) === null
    const names = (role: Role) => commandNames.filter(mayUse(role))
    const [viewer, support, operator, admin] = (['viewer', 'support', 'operator', 'admin'] as const).map(
      names,
    )
    expect(support).toEqual(expect.arrayContaining(viewer ?? []))
    expect(operator).toEqual(expect.arrayContaining(support ?? []))
    expect(admin).toEqual(commandNames)
  })

  it('C21 an actor without an owner sees all jobs, an owner its own', async () => {
    const [mine, others] = await store.enqueueJobs([
      { type: 'a', owner: 'ana' },
      { type: 'a', owner: 'bob' },
    ])
    const owner = context({ owner: 'ana' })
    expect(await readJob(owner, { id: mine?.jobId ?? '' })).toMatchObject({ isDone: true })
    expect(await readJob(owner, { id: others?.jobId ?? '' })).toMatchObject({
      refusal: { code: 'JOB_NOT_FOUND' },
    })
    expect(await readJob(context(), { id: others?.jobId ?? '' })).toMatchObject({ isDone: true })
    const listed = await listJobs(owner, { filter: {}, limit: 10 })
    expect(listed).toMatchObject({ value: { jobs: [{ id: mine?.jobId }] } })
  })

  it('SEE-8 a dead job whose source is gone is explained without a retry that would be refused', async () => {
    const [enqueued] = await store.enqueueJobs([{ type: 'gone' }])
    const [job] = await store.claimJobs({ workerId: 'w1', queues: ['gone'], limit: 1 })
    if (enqueued === undefined || job === undefined) throw new Error('nothing was claimed')
    await store.failJobs([{ ...job, code: 'NO_FILE', isRetryable: false }])
    const explain = async (sourceExists: boolean) => {
      const asked = { ...context(), sourceExists: async () => sourceExists }
      const answer = await explainJob(asked, { id: enqueued.jobId })
      if (!answer.isDone) throw new Error('it was refused')
      const { sentence, reasons } = answer.value
      return [sentence, ...reasons.flatMap(({ remedies = [] }) => remedies.map(({ act }) => act))]
    }
    expect(await explain(false)).toEqual(['It is dead. Its source no longer exists: it cannot run again.'])
    expect(await explain(true)).toEqual(['It is dead. Retry it to run it again.', 'retry', 'raise-attempts'])
  })

  it('SEE-7 dead letters are not complete if there are more causes than asked for', async () => {
    const own = createMemoryStore()
    await own.enqueueJobs([{ type: 'a' }, { type: 'a' }])
    const jobs = await own.claimJobs({ workerId: 'w1', queues: ['a'], limit: 2 })
    await own.failJobs(jobs.map((job, nth) => ({ ...job, code: `CODE_${nth}`, isRetryable: false })))
    const list = (limit: number) =>
      listDeadLetters({ ...context(), tables: [{ name: 'jobs', store: own }] }, { limit })
    expect(await list(1)).toMatchObject({ value: { isComplete: false, groups: { length: 1 } } })
    expect(await list(10)).toMatchObject({ value: { isComplete: true, groups: { length: 2 } } })
  })

  it('OPS-1 a table that is not there is named', async () => {
    const answer = await listJobs(context(), { filter: {}, limit: 1, table: 'job' })
    expect(answer).toMatchObject({ refusal: { code: 'NOT_FOUND', hint: 'Tables: jobs.' } })
  })
})
