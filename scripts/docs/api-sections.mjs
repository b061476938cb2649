// @ts-check
// Contents of the page of the TypeScript API, in reading order.

/**
 * `fields`: a table of an interface; `methods`: a heading for each member of it; `function`: its signatures; `type`: a line.
 * @typedef {{ name: string, file: string, as: 'fields' | 'methods' | 'function' | 'events' | 'type', heading?: string }} ApiPart
 */
/** @typedef {{ heading: string, text: string, parts: ApiPart[] }} ApiSection */

const FRONT_DOOR = 'src/unstuck/unstuck.ts'
const DECLARED = 'src/job/declared-jobs.ts'
const TYPED = 'src/unstuck/typed-methods.ts'
const API = 'src/unstuck/unstuck-api.ts'
const HANDLER = 'src/runtime/attempt/handler.ts'
const BATCH = 'src/runtime/batch/batch-handler.ts'
const JOB_ERROR = 'src/errors/job-error.ts'
const UNSTUCK_ERROR = 'src/errors/unstuck-error.ts'

const EXAMPLE = `\`\`\`ts
import { unstuck } from 'unstuck'

const q = unstuck() // DATABASE_URL
q.handle('send-mail', async (job) => ({ sent: job.payload }), { queue: 'mail' })
await q.enqueue({ type: 'send-mail', queue: 'mail', payload: { to: 'ana@example.com' }, delayMs: 60_000 })
await q.stop()
\`\`\``

const DECLARED_EXAMPLE = `\`\`\`ts
import { defineJobs, job, unstuck } from 'unstuck'
import { z } from 'zod'

const jobs = defineJobs({
  mail: job<{ to: string }>(),
  invoice: job({ payload: z.object({ customer: z.string() }), result: z.object({ total: z.number() }) }),
})
const q = unstuck({ jobs })
q.handle('mail', (mail) => console.log(mail.payload.to))
await q.enqueue({ type: 'mail', payload: { to: 'ana@example.com' } })
await q.stop()
\`\`\``

/** @type {ApiSection[]} */
export const apiSections = [
  {
    heading: 'unstuck()',
    text: `One instance enqueues jobs, runs them, or both.\n\n${EXAMPLE}`,
    parts: [
      { name: 'unstuck', file: FRONT_DOOR, as: 'function' },
      {
        name: 'UnstuckOptions',
        file: 'src/unstuck/options.ts',
        as: 'fields',
        heading: 'Options of unstuck()',
      },
    ],
  },
  {
    heading: 'Methods',
    text: 'Of the instance, `q` below. `Jobs` are the declared jobs of `unstuck({ jobs })`, and `Type` is the name of one.',
    parts: [
      { name: 'Unstuck', file: API, as: 'methods' },
      { name: 'RecurringOptions', file: API, as: 'fields', heading: 'Options of recurring()' },
      { name: 'EnqueueOptions', file: API, as: 'fields', heading: 'Options of enqueue()' },
      {
        name: 'EnqueuedJob',
        file: 'src/store/ports/lifecycle-store.ts',
        as: 'fields',
        heading: 'What enqueue() returns',
      },
      {
        name: 'WaitOptions',
        file: 'src/unstuck/jobs/job-waits.ts',
        as: 'fields',
        heading: 'Options of waitFor()',
      },
    ],
  },
  {
    heading: 'Declared jobs',
    text: `One place that names the jobs of an application, for their types and, with schemas, for checks at run time.

${DECLARED_EXAMPLE}

[Typed jobs](../guides/handlers/typed-jobs.md) says when schemas are checked.`,
    parts: [
      { name: 'defineJobs', file: DECLARED, as: 'function', heading: 'defineJobs()' },
      { name: 'job', file: DECLARED, as: 'function', heading: 'job()' },
      { name: 'HandlerOf', file: TYPED, as: 'type', heading: 'Types of declared jobs' },
      { name: 'BatchHandlerOf', file: TYPED, as: 'type' },
      { name: 'PayloadOf', file: DECLARED, as: 'type' },
      { name: 'PayloadInputOf', file: DECLARED, as: 'type' },
      { name: 'ResultOf', file: DECLARED, as: 'type' },
      { name: 'ResultInputOf', file: DECLARED, as: 'type' },
    ],
  },
  {
    heading: 'A job to enqueue',
    text: 'The argument of `enqueue`, and an item of `enqueueMany`. Only `type` is required.',
    parts: [{ name: 'NewJob', file: 'src/job/job.ts', as: 'fields' }],
  },
  {
    heading: 'A handler',
    text: 'A function of the job and its context. What it returns is the result, as JSON; what it throws is the failure.',
    parts: [
      { name: 'ClaimedJob', file: 'src/job/lease.ts', as: 'fields', heading: 'The job of a handler' },
      { name: 'JobContext', file: HANDLER, as: 'fields', heading: 'The context of a handler' },
      { name: 'FileHandler', file: TYPED, as: 'fields', heading: 'A handler in a file' },
      { name: 'ReleaseRequest', file: HANDLER, as: 'fields', heading: 'release()' },
      { name: 'HandlerOptions', file: HANDLER, as: 'fields', heading: 'Options of handle()' },
      { name: 'BatchedJob', file: BATCH, as: 'fields', heading: 'A job of handleMany()' },
      { name: 'BatchContext', file: BATCH, as: 'fields', heading: 'The context of a batch' },
      { name: 'BatchOptions', file: BATCH, as: 'fields', heading: 'Options of handleMany()' },
      {
        name: 'HandlerLimit',
        file: 'src/runtime/limits/token-limiter.ts',
        as: 'fields',
        heading: 'Rate limits',
      },
    ],
  },
  {
    heading: 'Events',
    text: 'For `q.on(name, listener)`. When each is emitted, and its log line: [runtime events](events.md).',
    parts: [{ name: 'RuntimeEvents', file: 'src/observe/events.ts', as: 'events' }],
  },
  {
    heading: 'Errors of handlers',
    text: 'Throw one of these to decide what happens next; any other error is retried. [Failures](../concepts/failures.md) has the codes.',
    parts: [
      { name: 'transientError', file: JOB_ERROR, as: 'function', heading: 'transientError()' },
      { name: 'permanentError', file: JOB_ERROR, as: 'function', heading: 'permanentError()' },
      { name: 'criticalError', file: JOB_ERROR, as: 'function', heading: 'criticalError()' },
      { name: 'JobErrorOptions', file: JOB_ERROR, as: 'fields', heading: 'Options of these errors' },
    ],
  },
  {
    heading: 'Errors of unstuck',
    text: 'Calls reject with an `UnstuckError`. [All codes](errors.md).',
    parts: [
      { name: 'UnstuckError', file: UNSTUCK_ERROR, as: 'fields' },
      { name: 'isUnstuckError', file: UNSTUCK_ERROR, as: 'function', heading: 'isUnstuckError()' },
    ],
  },
  {
    heading: 'Tests',
    text: '`unstuck({ store: memory() })`, with `memory` of `unstuck/memory`. [Test your handlers](../guides/handlers/testing-handlers.md) shows them in use.',
    parts: [
      {
        name: 'MemoryStoreOptions',
        file: 'src/store/memory/memory-store.ts',
        as: 'fields',
        heading: 'Options of memory()',
      },
      {
        name: 'MemoryJobStore',
        file: 'src/store/memory/memory-store.ts',
        as: 'fields',
        heading: 'The clock of memory()',
      },
      {
        name: 'DrainOptions',
        file: 'src/runtime/in-place/drain.ts',
        as: 'fields',
        heading: 'Options of drain()',
      },
    ],
  },
]
