import { afterEach, expect, it } from 'vitest'
import { RuntimeEventEmitter, type RuntimeEvents } from '../../observe/events.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { type UnhandledTypes, watchUnhandledTypes } from './unhandled-types.ts'

let watch: UnhandledTypes | undefined
afterEach(() => watch?.stop())

function open() {
  const store = createMemoryStore()
  const events = new RuntimeEventEmitter()
  const heard: RuntimeEvents['type:unhandled'][] = []
  events.on('type:unhandled', (unhandled) => heard.push(unhandled))
  let looks = 0
  const looking = {
    ...store,
    listQueues: (request: object) => {
      looks++
      return store.listQueues(request)
    },
    listJobs: store.listJobs.bind(store),
    readJobFacts: store.readJobFacts.bind(store),
  }
  const report = (types: string[], workerId = 'worker-1') =>
    store.reportWorker({ workerId, phase: 'running', types, concurrency: 1, running: 0, reportMs: 15_000 })
  const start = () => {
    watch = watchUnhandledTypes({
      table: 'jobs',
      store: looking,
      events,
      queues: ['mail'],
      firstLookMs: 0,
      intervalMs: 1,
    })
    return watch
  }
  /** Resolves after a whole look that started after the call. */
  const looked = async () => {
    const before = looks
    await expect.poll(() => looks).toBeGreaterThan(before + 1)
  }
  return { store, heard, report, start, looked }
}

it('SEE-1 a type that no worker handles is an event, once, and a problem until its jobs are gone', async () => {
  const { store, heard, report, start, looked } = open()
  await report(['mail'])
  const [enqueued] = await store.enqueueJobs([{ type: 'mial' }, { type: 'mail' }])
  store.elapse(11_000)
  const watching = start()
  await looked()
  const reason = 'the only live worker does not handle mial, and none ever did'
  expect(watching.problems()).toEqual([`jobs of type mial wait: ${reason}`])
  await looked()
  expect(heard).toEqual([{ table: 'jobs', type: 'mial', queue: 'mial', waiting: 1, reason }])
  await store.cancelJobs([enqueued?.jobId ?? ''])
  await looked()
  expect(watching.problems()).toEqual([])
})

it('SEE-1 types of other workers, of workers that left, of own queues, and new jobs are no problem', async () => {
  const { store, heard, report, start, looked } = open()
  await report(['invoice'], 'worker-2')
  store.elapse(3_600_000)
  await report(['mail'])
  await report(['report'], 'worker-3')
  await store.enqueueJobs([
    { type: 'invoice' },
    { type: 'report', queue: 'slow' },
    { type: 'anything', queue: 'mail' },
  ])
  store.elapse(11_000)
  await store.enqueueJobs([{ type: 'fresh' }])
  const watching = start()
  await looked()
  expect(watching.problems()).toEqual([])
  expect(heard).toEqual([])
})

it('SEE-1 a store that fails keeps what is known', async () => {
  const { store, report, start, looked } = open()
  await report(['mail'])
  await store.enqueueJobs([{ type: 'mial' }])
  store.elapse(11_000)
  const watching = start()
  await looked()
  store.listQueues = () => Promise.reject(new Error('away'))
  await looked()
  expect(watching.problems()).toHaveLength(1)
})
