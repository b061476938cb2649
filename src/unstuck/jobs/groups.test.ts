// Groups and limits through the application API, over the memory store.
import { afterEach, describe, expect, it } from 'vitest'
import { defineJobs, job } from '../../job/declared-jobs.ts'
import { memory } from '../../store/memory/index.ts'
import { type Unstuck, unstuck } from '../unstuck.ts'

let q: Pick<Unstuck, 'stop'> | undefined
afterEach(() => q?.stop())

const jobs = defineJobs({
  mail: job<{ tenant?: string }>({ group: ({ tenant }) => tenant }),
  plain: job<{ n: number }>(),
})

describe('groups', () => {
  it('RATE-7 a declaration gives its jobs their group, and a job may have another', async () => {
    const app = unstuck({ store: memory(), logger: false, jobs })
    q = app
    const groupOf = async (enqueued: { jobId: string }) => (await app.store.getJob(enqueued.jobId))?.group
    expect(await groupOf(await app.enqueue({ type: 'mail', payload: { tenant: 'a' } }))).toBe('a')
    expect(await groupOf(await app.enqueue({ type: 'mail', payload: { tenant: 'a' }, group: 'b' }))).toBe('b')
    expect(await groupOf(await app.enqueue({ type: 'mail', payload: {} }))).toBeNull()
    expect(await groupOf(await app.enqueue({ type: 'plain', payload: { n: 1 }, group: 'c' }))).toBe('c')
  })

  it.each([
    [7, 'group of mail: got 7, takes a text'],
    ['', 'group of mail: got "", takes 1 to 200 characters'],
    ['a\u0000', 'a text without'],
    ['x'.repeat(201), 'takes 1 to 200 characters'],
  ])(
    'RATE-7 a declaration that gives the group %j is refused before anything is sent',
    async (group, says) => {
      const sent: unknown[] = []
      const store = memory()
      const app = unstuck({
        store: { ...store, enqueueJobs: async (news) => (sent.push(news), store.enqueueJobs(news)) },
        logger: false,
        jobs: defineJobs({ mail: job({ group: () => group as string }), plain: job() }),
      })
      q = app
      await expect(app.enqueueMany([{ type: 'plain' }, { type: 'mail' }])).rejects.toThrow(says)
      expect(sent).toEqual([])
    },
  )

  it('RATE-7 a declaration that gives null gives no group', async () => {
    const app = unstuck({
      store: memory(),
      logger: false,
      jobs: defineJobs({ mail: job({ group: () => null as never }) }),
    })
    q = app
    const { jobId } = await app.enqueue({ type: 'mail' })
    expect((await app.store.getJob(jobId))?.group).toBeNull()
  })

  it('RATE-7 the limits of queues are written before the first claim', async () => {
    const app = unstuck({ store: memory(), logger: false, queues: { mail: { groupOrder: 'fifo' } } })
    q = app
    const order: string[] = []
    app.handle('mail', async ({ jobId }) => {
      order.push(jobId)
    })
    const enqueued = []
    for (const priority of [3, 1, 2]) enqueued.push(await app.enqueue({ type: 'mail', group: 'a', priority }))
    expect(await app.drain()).toEqual({ completed: 3 })
    expect(order).toEqual(enqueued.map(({ jobId }) => jobId))
    expect((await app.store.listQueues()).queues).toMatchObject([{ queue: 'mail', groupConcurrency: 1 }])
  })

  it.each([
    [{ mail: 5 }, 'queues.mail'],
    [{ mail: { limit: 5 } }, 'limit'],
    [{ mail: { concurrency: 0 } }, 'queues.mail.concurrency: got 0'],
    [{ mail: { concurrency: '5' } }, 'queues.mail.concurrency: got "5"'],
    [{ mail: { groupConcurrency: 1.5 } }, 'queues.mail.groupConcurrency: got 1.5'],
    [{ mail: { groupOrder: 'lifo' } }, 'queues.mail.groupOrder: got "lifo"'],
    [{ mail: { groupOrder: 'fifo', groupConcurrency: 3 } }, 'queues.mail.groupConcurrency: got 3'],
    [5, 'queues'],
  ])('RATE-7 refuses the queues %j', (queues, named) => {
    expect(() => unstuck({ store: memory(), logger: false, queues: queues as never })).toThrow(named)
  })

  it('RATE-7 refuses a group that is no function of the payload', () => {
    expect(() => job({ group: 'a' as never })).toThrow('group')
  })
})
