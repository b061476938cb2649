import { expect, it } from 'vitest'
import { job } from '../job/declared-jobs.ts'
import { memory } from '../store/memory/index.ts'
import { unstuck } from './unstuck.ts'

const q = () =>
  unstuck({ store: memory(), logger: false }) as unknown as Record<string, (...args: unknown[]) => unknown>
const open = (options: object) => () => unstuck({ store: memory(), ...options })

const mistakes: Record<string, [() => unknown, string]> = {
  'jobs that are no object': [open({ jobs: [] }), 'takes declarations of defineJobs'],
  'an empty worker id': [open({ workerId: '' }), 'workerId: got "", takes a text that is not empty'],
  'a path that is a number': [open({ config: 3 }), 'config: got 3, takes a text that is not empty'],
  'a switch that is a text': [
    open({ handleSignals: 'yes' }),
    'handleSignals: got "yes", takes true or false',
  ],
  'a dependency that is a number': [open({ dependencies: { mail: 3 } }), 'dependencies.mail: got a number'],
  'a dispatch without publish': [
    open({ dispatch: {} }),
    'dispatch: got an object (withheld), takes an object with publish',
  ],
  'a schema in the place of its options': [
    () => job(3 as never),
    'job: got a number (withheld), takes job<Payload>()',
  ],
  'no handler': [() => q()['handle']?.('a'), 'handler: got undefined, takes a function, or { file }'],
  'a handler without a type': [
    () => q()['handle']?.('', () => {}),
    'type: got "", takes a text that is not empty',
  ],
  'a handler of a misspelt file': [
    () => q()['handle']?.('a', { fil: 'x' }),
    'handler: got an object (withheld)',
  ],
  'options that are null': [() => q()['handle']?.('a', () => {}, null), "options of handle('a'): got null"],
  'a schedule without a job': [
    () => q()['recurring']?.('n', '* * * * *'),
    'job: got undefined, takes an object with a type',
  ],
  'an overlap that does not exist': [
    () => q()['recurring']?.('n', '* * * * *', { type: 'a' }, { overlap: 'queue' }),
    'overlap: got "queue", takes skip or allow',
  ],
  'a misspelt time zone': [
    () => q()['recurring']?.('n', '* * * * *', { type: 'a' }, { timeZone: 'UTC' }),
    'recurring: unknown option timeZone — did you mean timezone?',
  ],
  'a misspelt transaction': [
    () => q()['enqueue']?.({ type: 'a' }, { txx: {} }),
    'enqueue: unknown option txx',
  ],
  'many jobs that are one': [
    () => q()['enqueueMany']?.({ type: 'a' }),
    'jobs: got an object (withheld), takes an array',
  ],
  'a wait without a job': [
    () => q()['enqueueAndWait']?.(),
    'job: got undefined, takes an object with a type',
  ],
  'a type beside a job': [
    () => q()['enqueueAndWait']?.({ type: 'a' }, { type: 'a' }),
    'enqueueAndWait: unknown option type',
  ],
  'options of a wait that are null': [() => q()['waitFor']?.('id', null), 'options of waitFor: got null'],
  'a misspelt limit': [() => q()['drain']?.({ limt: 3 }), 'drain: unknown option limt — did you mean limit?'],
  'a misspelt event': [
    () => q()['on']?.('job:end', () => {}),
    'on: unknown event job:end — did you mean job:ended?',
  ],
  'an event without a name': [() => q()['on']?.(undefined, () => {}), 'on: unknown event undefined'],
  'a listener that is no function': [
    () => q()['on']?.('job:ended'),
    'listener: got undefined, takes a function',
  ],
}

it.each(Object.keys(mistakes))('WORK-8 %s is one clear error', async (mistake) => {
  const [make, message] = mistakes[mistake] ?? [() => {}, '']
  const error: unknown = await (async () => make())().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) })
})

it('WORK-9 a wait after stop is refused at once', async () => {
  const app = unstuck({ store: memory(), logger: false })
  const { jobId } = await app.enqueue({ type: 'a' })
  await app.stop()
  await expect(app.waitFor(jobId)).rejects.toThrow(`the wait for job ${jobId} was ended by stop`)
})
