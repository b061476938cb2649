import { describe, expect, it } from 'vitest'
import { jsonText } from './json-text.ts'

class Account {
  readonly name = 'secret'
  readonly #balance = 7
  balance = () => this.#balance
}

class Money {
  readonly #cents: number
  constructor(cents: number) {
    this.#cents = cents
  }
  toJSON() {
    return { cents: this.#cents }
  }
}

const cycle: { inner: { self?: unknown } } = { inner: {} }
cycle.inner.self = cycle
const hole = Object.assign([1], { length: 2 })

describe('values that JSON would lose', () => {
  it.each<[string, unknown, string]>([
    ['a Map', { a: [{ b: new Map([['secret', 1]]) }] }, 'payload.a[0].b: got a Map, takes plain data'],
    ['a Set', { tags: new Set(['secret']) }, 'payload.tags: got a Set, takes an array'],
    ['a class instance', { account: new Account() }, 'payload.account: got an instance of Account, takes'],
    ['an error', [new Error('secret')], 'payload[0]: got an instance of Error, takes plain data'],
    ['a function', { run: () => {} }, 'payload.run: got a function, takes data'],
    ['a symbol', { 'x-y': Symbol('secret') }, 'payload["x-y"]: got a symbol, takes data'],
    ['undefined in an array', { a: [1, undefined] }, 'payload.a[1]: got undefined in an array, takes'],
    ['a hole in an array', hole, 'payload[1]: got undefined in an array, takes null or data'],
    ['a bigint', { n: 1n }, 'payload.n: got a bigint, takes a number or a text'],
    ['NaN', { n: [Number.NaN] }, 'payload.n[0]: got NaN, takes a finite number'],
    ['an invalid date', { a: { at: new Date(Number.NaN) } }, 'payload.a.at: got an invalid Date, takes'],
    ['a cycle', cycle, 'payload.inner.self: got an object that contains itself'],
    ['a typed array', { bytes: new Uint8Array(2) }, 'payload.bytes: got an instance of Uint8Array'],
    ['a lost value of toJSON', { own: { toJSON: () => new Map() } }, 'payload.own: got a Map'],
  ])('WORK-8 %s is refused with its path, and nothing of it is shown', (_, payload, start) => {
    let message = ''
    try {
      jsonText('payload', payload)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message.slice(0, start.length)).toBe(start)
    expect(message).not.toContain('secret')
  })

  it.each<[string, unknown, string]>([
    ['a Date as its ISO time', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['an instance with toJSON', { price: new Money(5) }, '{"price":{"cents":5}}'],
    ['an object from another realm', { inner: Object.create(Object.create(null)) }, '{"inner":{}}'],
    ['an undefined field, which is absent', { a: 1, b: undefined }, '{"a":1}'],
  ])('WORK-8 JSON takes %s', (_, payload, json) => {
    expect(jsonText('payload', payload)).toBe(json)
  })

  it('WORK-8 the same object may occur twice', () => {
    const address = { at: new Date(0) }
    expect(() => jsonText('payload', { from: address, to: address })).not.toThrow()
  })

  it('WORK-8 a getter that throws, and data too deep for JSON, get the same clear error', () => {
    const hostile = Object.defineProperty({}, 'a', {
      enumerable: true,
      get() {
        throw new Error('secret')
      },
    })
    expect(() => jsonText('payload', hostile)).toThrow('payload: got an object (withheld), takes JSON')
    let deep: unknown[] = []
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(() => jsonText('payload', deep)).toThrow('payload: got an array (withheld), takes JSON')
  })
})
