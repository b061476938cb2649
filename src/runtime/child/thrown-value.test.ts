import { expect, it } from 'vitest'
import { criticalError, permanentError, releaseError, transientError } from '../../errors/index.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import { packThrown, unpackThrown } from './thrown-value.ts'

const circular = new Error('round')
circular.cause = circular
const guarded = Object.defineProperty(new Error('guarded'), 'code', {
  get: () => {
    throw new Error('no')
  },
})

it.each([
  ['a plain error', new TypeError('x is not a function')],
  ['a permanent error', permanentError('no PDF', { code: 'NOT_PDF', isCausedByUser: true })],
  ['a critical error', criticalError('no disk')],
  [
    'a gateway that asks to wait',
    transientError('busy', { code: 'GW_5XX', retryAfterMs: 5, gatewayStatus: 503 }),
  ],
  ['a release', releaseError('limited', { release: 'limited', retryAfterMs: 7 })],
  ['a wait in seconds', Object.assign(new Error('busy'), { retryAfter: 2 })],
  [
    'a cause that says more',
    new Error('step 3', { cause: new Error('two', { cause: permanentError('one') }) }),
  ],
  [
    'several errors',
    new AggregateError([Object.assign(new Error('first'), { code: 'ECONNREFUSED' })], 'all'),
  ],
  ['several errors with a code', Object.assign(new AggregateError([new Error('first')]), { code: 'EPIPE' })],
  ['a timeout', new DOMException('too late', 'TimeoutError')],
  ['a cycle of causes', circular],
  ['a getter that throws', guarded],
  ['a revoked proxy', revoked()],
  ['a text', 'just a string'],
  ['an object', { message: 'no error', code: 'EIO' }],
  ['nothing', undefined],
  ['null', null],
  ['a number', 3],
  ['a bigint', 10n],
  ['a symbol', Symbol('x')],
  ['a function', () => {}],
])('FAIL-1 %s is judged the same after the way into another process', (_, thrown) => {
  const copy = unpackThrown(structuredClone(packThrown(thrown)))
  expect(classifyError(copy)).toEqual(classifyError(thrown))
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
