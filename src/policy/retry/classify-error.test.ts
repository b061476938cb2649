import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CodeSet,
  criticalError,
  JobError,
  permanentError,
  publicCodes,
  transientError,
} from '../../errors/index.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { classifyError } from './classify-error.ts'

const withCode = (code: unknown, message = 'x') => Object.assign(new Error(message), { code })

async function caught(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('the category and code of an error', () => {
  it.each([
    [transientError('x', { code: 'GW_5XX' }), 'GW_5XX', 'TRANSIENT', true],
    [transientError('x', { code: 'GW_4XX' }), 'GW_4XX', 'TRANSIENT', false],
    [transientError('x', { isCausedByUser: true }), 'UNKNOWN', 'TRANSIENT', false],
    [permanentError('x', { code: 'GW_5XX' }), 'GW_5XX', 'PERMANENT', false],
    [permanentError('x', { code: 'NOT_PDF' }), 'NOT_PDF', 'PERMANENT', false],
    [criticalError('x'), 'UNKNOWN', 'CRITICAL', false],
  ])('FAIL-3 a JobError says itself what should happen: %o', (error, publicCode, category, isRetryable) => {
    expect(classifyError(error)).toMatchObject({ code: error.code, publicCode, category, isRetryable })
  })

  it.each([
    ['ENOSPC', 'IO_ERROR', withCode('ENOSPC')],
    ['ECONNRESET', 'GW_5XX', withCode('ECONNRESET')],
    ['23505', 'UNKNOWN', withCode('23505')],
    ['UNKNOWN', 'UNKNOWN', withCode(1)],
    ['UNKNOWN', 'UNKNOWN', withCode('no code at all\n')],
    ['MEMORY_ERROR', 'UNKNOWN', withCode('ERR_WORKER_OUT_OF_MEMORY')],
    ['MEMORY_ERROR', 'UNKNOWN', new RangeError('Array buffer allocation failed')],
    ['UNKNOWN', 'UNKNOWN', new RangeError('Maximum call stack size exceeded')],
    ['TIMEOUT', 'GW_TIMEOUT', new DOMException('too late', 'TimeoutError')],
    ['ABORTED', 'UNKNOWN', new DOMException('stopped', 'AbortError')],
    ['NETWORK_ERROR', 'GW_5XX', new TypeError('fetch failed')],
    ['ENOTFOUND', 'GW_5XX', new TypeError('fetch failed', { cause: withCode('ENOTFOUND') })],
    ['EIO', 'IO_ERROR', new Error('step 3', { cause: new Error('two', { cause: withCode('EIO') }) })],
  ])('FAIL-2 FAIL-3 an error of code %s is shown as %s and tried again', (code, publicCode, error) => {
    expect(classifyError(error)).toMatchObject({ code, publicCode, category: 'TRANSIENT', isRetryable: true })
  })

  it('FAIL-3 a mistake in the program stays TRANSIENT: a deploy may mend it', () => {
    for (const error of [
      new TypeError('x is not a function'),
      new ReferenceError('y'),
      new SyntaxError('z'),
    ]) {
      expect(classifyError(error)).toMatchObject({ category: 'TRANSIENT', isRetryable: true })
    }
  })

  it('FAIL-3 an error whose code is not retryable is PERMANENT', () => {
    const classified = classifyError(withCode('VALIDATION_ERROR'))
    expect(classified).toMatchObject({ publicCode: 'GW_4XX', category: 'PERMANENT', isRetryable: false })
  })

  it('FAIL-3 a JobError decides also as the cause of an error that has a code', () => {
    const error = Object.assign(new Error('step 3', { cause: permanentError('no', { code: 'NOT_PDF' }) }), {
      code: 'EIO',
    })
    expect(classifyError(error)).toMatchObject({ code: 'NOT_PDF', category: 'PERMANENT', isRetryable: false })
    expect(classifyError(error).reason).toBe('step 3 (NOT_PDF)')
  })

  it('FAIL-2 an abort is judged by its reason', async () => {
    const aborted = await caught(() => sleep(60_000, null, { signal: AbortSignal.timeout(1) }))
    expect(aborted).toMatchObject({ name: 'AbortError' })
    expect(classifyError(aborted).publicCode).toBe('GW_TIMEOUT')
  })

  it('FAIL-2 several errors in one are judged by the first', async () => {
    const several = await caught(() =>
      Promise.any([
        Promise.reject(permanentError('not a PDF', { code: 'NOT_PDF' })),
        Promise.reject(new Error('b')),
      ]),
    )
    expect(classifyError(several)).toMatchObject({
      code: 'NOT_PDF',
      reason: 'not a PDF',
      category: 'PERMANENT',
    })
    const connection = Object.assign(new AggregateError([withCode('EHOSTUNREACH')]), { code: 'ECONNREFUSED' })
    expect(classifyError(connection).code).toBe('ECONNREFUSED')
    expect(classifyError(new AggregateError(['a word'])).reason).toBe('a word')
  })

  it('FAIL-2 memory that this machine lacks is an IO_ERROR', () => {
    const error = withCode('ERR_WORKER_OUT_OF_MEMORY')
    expect(classifyError(error, { isLocalPressure: true }).publicCode).toBe('IO_ERROR')
  })

  it('FAIL-2 a profile may bring its own codes', () => {
    const codes: CodeSet<'retry' | 'stop'> = {
      publicCodes: ['retry', 'stop'],
      toPublicCode: (code) => (code === 'EIO' ? 'retry' : 'stop'),
      isRetryable: (code) => code === 'retry',
    }
    expect(classifyError(withCode('EIO'), { codes })).toMatchObject({
      publicCode: 'retry',
      isRetryable: true,
    })
    expect(classifyError(new Error('x'), { codes })).toMatchObject({ publicCode: 'stop', isRetryable: false })
  })
})

describe('the wait that an error asks for', () => {
  it.each([
    [transientError('x', { retryAfterMs: 1500.2 }), 1501],
    [transientError('x', { retryAfterMs: 0 }), 0],
    [Object.assign(new Error('x'), { retryAfter: 30 }), 30_000],
    [new Error('y', { cause: Object.assign(new Error('x'), { retryAfterMs: 7 }) }), 7],
    [Object.assign(new Error('x'), { retryAfterMs: Infinity }), 31_536_000_000],
    [Object.assign(new Error('x'), { retryAfterMs: -1 }), undefined],
    [Object.assign(new Error('x'), { retryAfterMs: Number.NaN }), undefined],
    [Object.assign(new Error('x'), { retryAfter: 'Fri, 31 Dec 1999 23:59:59 GMT' }), undefined],
    [new JobError('x', { category: 'PERMANENT', retryAfterMs: 5 }), undefined],
  ])('FAIL-3 is taken from %o', (error, retryInMs) => {
    expect(classifyError(error).retryInMs).toBe(retryInMs)
  })
})

describe('the reason', () => {
  it.each([
    ["ENOENT: no such file, open '/srv/my files/a.pdf'", "ENOENT: no such file, open '<path>'"],
    ['cannot read /srv/app/x.ts:10:5, gave up', 'cannot read <path>, gave up'],
    ['(see /srv/app/log).', '(see <path>).'],
    ['C:\\jobs\\a.pdf and \\\\nas\\share\\b', '<path> and <path>'],
    ['at file:///srv/app/x.ts', 'at <path>'],
    ['either/or, 3 / 4', 'either/or, 3 / 4'],
    ['GET https://gw.example/convert/7 failed', 'GET https://gw.example/convert/7 failed'],
    ['postgres://app:hunter2@db/jobs is down', 'postgres://***@db/jobs is down'],
    ['redis://app:p/w@d@cache:6379 is down', 'redis://***@cache:6379 is down'],
    ['https://token@gw/x', 'https://***@gw/x'],
    ['https://gw/x?api_key=s3cret&page=2', 'https://gw/x?api_key=***&page=2'],
    ['host=db password=hunter2 user=app', 'host=db password=*** user=app'],
    ['refused: Bearer abcdef123456', 'refused: Bearer ***'],
    ['one\r\ntwo\u2028three\u0000four', 'one two three four'],
    ['\u001b[31mred\u001b[39m', 'red'],
    ['failed\n    at run (file:///srv/x.js:1:2)\n    at async Promise.all (<anonymous>)', 'failed'],
    ['half \ud83d pair', 'half pair'],
    ['   ', 'Error'],
  ])('FAIL-2 of %j is one line without path, stack or password', (message, reason) => {
    expect(classifyError(new Error(message)).reason).toBe(reason)
  })

  it.each([
    ['only a word', 'only a word'],
    [undefined, 'undefined was thrown'],
    [null, 'null was thrown'],
    [7n, '7 was thrown'],
    [Symbol('s'), 'a symbol was thrown'],
    [() => 1, 'a function was thrown'],
    [{ password: 'hunter2' }, 'an object was thrown'],
    [{ message: 'a row' }, 'a row'],
  ])('FAIL-2 of %o names what was thrown', (thrown, reason) => {
    const classified = classifyError(thrown)
    expect(classified).toMatchObject({ code: 'UNKNOWN', category: 'TRANSIENT', isRetryable: true, reason })
    expect('stack' in classified).toBe(false)
  })

  it('FAIL-2 names the code of the cause, which the message leaves out', () => {
    const error = new TypeError('fetch failed', { cause: withCode('ECONNREFUSED') })
    expect(classifyError(error).reason).toBe('fetch failed (ECONNREFUSED)')
  })

  it('FAIL-2 has at most 300 characters, and a huge message does not outlast the test', () => {
    for (const piece of ['a', '/', '://a:', "'/", 'at ', ' /).', '\\\\', 'a-token', '(/', '\n', '😀']) {
      const { reason } = classifyError(new Error(piece.repeat(2_000_000)))
      expect(reason.length).toBeLessThanOrEqual(300)
      expect(reason.isWellFormed()).toBe(true)
    }
  })
})

describe('the stack', () => {
  it('FAIL-1 is kept apart, with the causes, at most 8 KiB and without passwords', () => {
    const cause = new Error('postgres://app:hunter2@db/jobs')
    const { stack = '', reason } = classifyError(new Error('outer', { cause }))
    expect(stack).toContain('classify-error.test.ts')
    expect(stack).toContain('caused by Error: postgres://***@db/jobs')
    expect(reason).toBe('outer')
    const long = classifyError(Object.assign(new Error('x'), { stack: '€\0'.repeat(100_000) })).stack ?? ''
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(8192)
    expect(long).toMatch(/^€{2000,}$/)
  })

  it('FAIL-1 a job remembers category, message, stack and attempt of its failure', async () => {
    const store = createMemoryStore()
    const [enqueued] = await store.enqueueJobs([{ type: 'convert' }])
    const [claimed] = await store.claimJobs({ workerId: 'w', queues: ['convert'], limit: 1 })
    if (claimed === undefined || enqueued === undefined) throw new Error('no job')
    const { publicCode, gatewayStatus, ...failure } = classifyError(permanentError('no', { code: 'NOT_PDF' }))
    expect([publicCode, gatewayStatus]).toEqual(['NOT_PDF', undefined])
    const [failed] = await store.failJobs([{ ...claimed, ...failure }])
    expect(failed?.outcome).toBe('dead')
    const job = await store.getJob(claimed.jobId)
    expect(job?.error).toMatchObject({ code: 'NOT_PDF', reason: 'no', category: 'PERMANENT', attempt: 1 })
    expect(job?.error?.stack).toContain('JobError: no')
  })
})

describe('any thrown value', () => {
  const cycle = new Error('cycle')
  cycle.cause = cycle
  const aggregate = new AggregateError([], 'several')
  aggregate.errors.push(aggregate)
  const odd = fc.constantFrom<unknown>(cycle, aggregate, Object.create(null), class Foo {})
  // Deeper values cost the generator ten times as much, and nobody reads them.
  const anything = fc.anything({ maxDepth: 1, maxKeys: 3 })
  const text = fc.string({ unit: 'binary', maxLength: 400 })
  const errorLike = fc.record(
    {
      name: fc.oneof(
        fc.constantFrom('Error', 'JobError', 'AggregateError', 'TimeoutError', 'AbortError', 'RangeError'),
        anything,
      ),
      message: fc.oneof(text, anything),
      code: fc.oneof(fc.constantFrom('ENOENT', 'NOT_PDF', 'constructor', '__proto__'), text, anything),
      category: fc.oneof(fc.constantFrom('PERMANENT', 'CRITICAL'), anything),
      stack: fc.oneof(text, anything),
      cause: fc.oneof(odd, anything),
      errors: fc.oneof(fc.array(odd), anything),
      retryAfterMs: fc.oneof(fc.double(), anything),
      retryAfter: fc.oneof(fc.double(), anything),
      isCausedByUser: fc.oneof(fc.boolean(), anything),
      gatewayStatus: fc.oneof(fc.integer(), anything),
    },
    { requiredKeys: [] },
  )
  const asError = errorLike.map((fields) => {
    const error = new Error('x')
    for (const [key, value] of Object.entries(fields)) Object.defineProperty(error, key, { value })
    return error
  })

  it('FAIL-2 FAIL-3 is judged even where nothing of it can be read', () => {
    const refuse = () => {
      throw new Error('trap')
    }
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = new Proxy({}, { get: refuse, getPrototypeOf: refuse, has: refuse, ownKeys: refuse })
    for (const unreadable of [revoked, trap]) {
      expect(classifyError(unreadable)).toEqual({
        code: 'UNKNOWN',
        publicCode: 'UNKNOWN',
        category: 'TRANSIENT',
        reason: 'an object was thrown',
        isRetryable: true,
      })
      for (const key of [
        'name',
        'message',
        'code',
        'stack',
        'cause',
        'errors',
        'retryAfterMs',
        'retryAfter',
      ]) {
        const error = Object.defineProperty(new AggregateError([unreadable]), key, { value: unreadable })
        expect(classifyError(error)).toMatchObject({ publicCode: 'UNKNOWN', isRetryable: true })
        const throwing = Object.defineProperty(new Error('x'), key, { get: refuse })
        expect(classifyError(throwing)).toMatchObject({ publicCode: 'UNKNOWN', isRetryable: true })
      }
    }
  })

  it('FAIL-2 FAIL-3 becomes one of the ten codes, one clean line and a decision', () => {
    fc.assert(
      fc.property(fc.oneof(anything, text, odd, errorLike, asError), (thrown) => {
        const classified = classifyError(thrown)
        expect(publicCodes).toContain(classified.publicCode)
        expect(['TRANSIENT', 'PERMANENT', 'CRITICAL']).toContain(classified.category)
        expect(classified.code).toMatch(/^[\w.:-]{1,64}$/)
        expect(classified.reason).toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029]{1,300}$/u)
        expect(classified.reason.length).toBeLessThanOrEqual(300)
        expect(Buffer.byteLength(classified.stack ?? '')).toBeLessThanOrEqual(8192)
        expect((classified.stack ?? '').isWellFormed()).toBe(true)
        expect(classified.retryInMs ?? 0).toSatisfy((ms: number) => ms >= 0 && ms <= 31_536_000_000)
        if (classified.category !== 'TRANSIENT') expect(classified.isRetryable).toBe(false)
        if (!classified.isRetryable) expect(classified.retryInMs).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })
})
