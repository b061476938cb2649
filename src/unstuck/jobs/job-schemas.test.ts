import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isUnstuckError } from '../../errors/index.ts'
import { defineJobs, job } from '../../job/declared-jobs.ts'
import type { NewJob } from '../../job/job.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { StandardSchema } from '../../job/standard-schema.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import type { JobContext } from '../../runtime/attempt/handler.ts'
import { JobSchemas } from './job-schemas.ts'

const claimed = (payload: unknown) => ({ type: 'mail', payload }) as ClaimedJob
const context = { tx: (work: (client: unknown) => Promise<unknown>) => work({}) } as JobContext as never
const inProcess = { isFile: false }

async function thrownBy(run: () => unknown): Promise<Error & { issues?: unknown }> {
  try {
    await run()
  } catch (error) {
    return error as Error
  }
  return expect.unreachable('nothing was thrown')
}

const libraries: [string, StandardSchema][] = [
  ['zod', z.object({ to: z.string(), lines: z.array(z.object({ n: z.number() })) })],
  ['valibot', v.object({ to: v.string(), lines: v.array(v.object({ n: v.number() })) })],
  ['arktype', type({ to: 'string', lines: type({ n: 'number' }).array() })],
]

describe.each(libraries)('a schema of %s', (_, payload) => {
  const schemas = new JobSchemas(defineJobs({ mail: job({ payload }) }))

  it('WORK-8 refuses a payload at enqueue, with the path', async () => {
    const bad: NewJob = { type: 'mail', payload: { to: 'a@b.c', lines: [{ n: 1 }, { n: 'two' }] } }
    const error = await thrownBy(() => schemas.checkJobs([bad]))
    expect(isUnstuckError(error, 'INVALID_ARGUMENT')).toBe(true)
    expect(error.message).toMatch(/^mail: payload\.lines\[1\]\.n: .*number/)
  })

  it('WORK-8 lets fitting payloads through, and finds the one job of a batch that does not', async () => {
    const good: NewJob = { type: 'mail', payload: { to: 'a@b.c', lines: [] } }
    expect(await schemas.checkJobs([good, good])).toBeUndefined()
    const error = await thrownBy(() => schemas.checkJobs([good, { type: 'mail', payload: { lines: [] } }]))
    expect(error.message).toMatch(/^mail: jobs\[1\]\.payload\.to: /)
  })

  it('WORK-8 FAIL-2 ends a job before its handler, and shows nothing of the payload', async () => {
    let hasRun = false
    const guarded = schemas.guard('mail', () => void (hasRun = true), inProcess)
    const error = await thrownBy(() => guarded(claimed({ to: 7, lines: [{ n: 'hush' }] }), context))
    expect(hasRun).toBe(false)
    expect(classifyError(error)).toMatchObject({
      code: 'INVALID_PAYLOAD',
      publicCode: 'GW_4XX',
      category: 'PERMANENT',
      isRetryable: false,
      reason: 'the payload does not fit the schema of mail: 2 issues',
    })
    expect(JSON.stringify([error, error.message, error.stack])).not.toContain('hush')
    expect(error.issues).toHaveLength(2)
  })
})

describe('JobSchemas', () => {
  const seen: unknown[] = []
  const keep = ({ payload }: ClaimedJob) => void seen.push(payload)
  const dated = new JobSchemas({
    mail: job({ payload: z.object({ at: z.coerce.date(), n: z.number().default(1) }) }),
  })

  it('WORK-8 a handler gets what the schema makes of the stored payload', async () => {
    await dated.guard('mail', keep, inProcess)(claimed({ at: '2030-01-31T00:00:00.000Z' }), context)
    expect(seen.pop()).toEqual({ at: new Date('2030-01-31'), n: 1 })
  })

  it('WORK-8 a handler in a file gets it as it is stored', async () => {
    await dated.guard('mail', keep, { isFile: true })(claimed({ at: '2030-01-31' }), context)
    expect(seen.pop()).toEqual({ at: '2030-01-31' })
  })

  it('WORK-8 enqueue judges the payload as it will be read: a Date is a text by then', async () => {
    const strict = new JobSchemas({ mail: job({ payload: z.object({ at: z.date() }) }) })
    expect(dated.checkJobs([{ type: 'mail', payload: { at: new Date() } }])).toBeUndefined()
    const error = await thrownBy(() => strict.checkJobs([{ type: 'mail', payload: { at: new Date() } }]))
    expect(error.message).toContain('mail: payload.at: ')
  })

  it('WORK-8 a schema may answer later, except for a schedule', async () => {
    const later = z.object({ to: z.string().refine(async (to) => to !== 'nobody') })
    const schemas = new JobSchemas({ mail: job({ payload: later }) })
    await schemas.checkJobs([{ type: 'mail', payload: { to: 'a' } }])
    await expect(schemas.checkJobs([{ type: 'mail', payload: { to: 'nobody' } }])).rejects.toThrow(
      'payload.to',
    )
    expect(() => schemas.checkScheduled({ type: 'mail', payload: { to: 'a' } })).toThrow('synchronously')
  })

  it('WORK-8 a type that is not declared is refused by name', () => {
    const schemas = new JobSchemas({ mail: job(), invoice: job() })
    expect(() => schemas.checkJobs([{ type: 'mial' }])).toThrow(
      'type: got "mial", takes one of the declared jobs: mail, invoice — did you mean mail?',
    )
    expect(() => schemas.requireDeclared('constructor')).toThrow('type: got "constructor"')
    expect(new JobSchemas(undefined).checkJobs([{ type: 'mial' }])).toBeUndefined()
  })

  it('WORK-8 a result that does not fit ends the job, and rolls back its transaction', async () => {
    const schemas = new JobSchemas({ mail: job({ result: z.object({ sent: z.number() }) }) })
    const bad = { sent: 'hush' }
    const returned = await thrownBy(() => schemas.guard('mail', () => bad, inProcess)(claimed({}), context))
    expect(classifyError(returned)).toMatchObject({ code: 'INVALID_RESULT', category: 'PERMANENT' })
    const inTx = schemas.guard('mail', (_, { tx }) => tx(async () => bad), inProcess)
    expect(
      classifyError(await thrownBy(() => inTx(claimed({}), { ...(context as object) } as never))).reason,
    ).toBe('the result does not fit the schema of mail: one issue')
    const good = schemas.guard('mail', (_, { tx }) => tx(async () => ({ sent: 1 })), inProcess)
    expect(await good(claimed({}), { ...(context as object) } as never)).toEqual({ sent: 1 })
  })

  it('WORK-8 a declaration that is none is refused', () => {
    expect(() => job({ payload: { to: 'string' } as never })).toThrow(
      'payload: got an object (withheld), takes a',
    )
    expect(() => new JobSchemas({ mail: z.object({}) as never })).toThrow(
      'jobs.mail: got an object (withheld), takes job',
    )
  })
})
