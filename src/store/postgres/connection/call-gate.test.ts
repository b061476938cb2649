import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CallGate } from './call-gate.ts'

let started: string[]
let ends: Map<string, () => void>

beforeEach(() => {
  vi.useFakeTimers()
  started = []
  ends = new Map()
})
afterEach(() => {
  vi.useRealTimers()
})

function call(gate: CallGate, name: string): Promise<string> {
  return gate.pass(() => {
    started.push(name)
    return new Promise<string>((resolve) => {
      ends.set(name, () => resolve(name))
    })
  })
}
const end = async (name: string) => {
  ends.get(name)?.()
  await vi.advanceTimersByTimeAsync(0)
}

it('WORK-1 calls that come together share one connection while they are short', async () => {
  const gate = new CallGate(5)
  gate.noteConnected()
  const calls = ['a', 'b', 'c'].map((name) => call(gate, name))
  expect(started).toEqual(['a'])
  await end('a')
  await end('b')
  await end('c')
  expect(await Promise.all(calls)).toEqual(['a', 'b', 'c'])
})

it('WORK-1 a call that waited 25 ms for a busy connection gets another one, up to the limit', async () => {
  const gate = new CallGate(3)
  gate.noteConnected()
  for (const name of ['a', 'b', 'c', 'd']) void call(gate, name)
  await vi.advanceTimersByTimeAsync(25)
  expect(started).toEqual(['a', 'b'])
  gate.noteConnected()
  await vi.advanceTimersByTimeAsync(50)
  // At the limit calls wait in the pool, which has a time limit for that.
  expect(started).toEqual(['a', 'b', 'c', 'd'])
})

it('WORK-1 calls that each wait for less get another connection if they wait for a tenth of the time', async () => {
  const gate = new CallGate(5)
  gate.noteConnected()
  for (const round of [1, 2]) {
    void call(gate, `claim ${round}`)
    void call(gate, `completion ${round}`)
    await vi.advanceTimersByTimeAsync(10)
    await end(`claim ${round}`)
    await end(`completion ${round}`)
    await vi.advanceTimersByTimeAsync(30)
  }
  void call(gate, 'claim 3')
  void call(gate, 'completion 3')
  await vi.advanceTimersByTimeAsync(4)
  expect(started.at(-1)).toBe('claim 3')
  await vi.advanceTimersByTimeAsync(1)
  expect(started.at(-1)).toBe('completion 3')
})

it('WORK-1 calls that rarely wait for less share a connection', async () => {
  const gate = new CallGate(5)
  gate.noteConnected()
  for (const round of [1, 2, 3, 4, 5]) {
    void call(gate, `claim ${round}`)
    void call(gate, `completion ${round}`)
    await vi.advanceTimersByTimeAsync(10)
    expect(started.at(-1)).toBe(`claim ${round}`)
    await end(`claim ${round}`)
    await end(`completion ${round}`)
    await vi.advanceTimersByTimeAsync(120)
  }
})

it('WORK-1 while a connection is being opened, calls wait for it up to a second', async () => {
  const gate = new CallGate(5)
  for (const name of ['a', 'b']) void call(gate, name)
  await vi.advanceTimersByTimeAsync(900)
  expect(started).toEqual(['a'])
  await vi.advanceTimersByTimeAsync(200)
  expect(started).toEqual(['a', 'b'])
})

it('WORK-1 connections that the pool has closed are opened again only if they are needed', async () => {
  const gate = new CallGate(5)
  gate.noteConnected()
  void call(gate, 'a')
  void call(gate, 'b')
  await vi.advanceTimersByTimeAsync(50)
  gate.noteConnected()
  await end('a')
  await end('b')
  gate.noteClosed()
  void call(gate, 'c')
  void call(gate, 'd')
  expect(started).toEqual(['a', 'b', 'c'])
  await end('c')
  expect(started).toEqual(['a', 'b', 'c', 'd'])
})

describe('a second connection', () => {
  let gate: CallGate

  beforeEach(async () => {
    gate = new CallGate(5)
    gate.noteConnected()
    const calls = [call(gate, 'a'), call(gate, 'b')]
    await vi.advanceTimersByTimeAsync(25)
    gate.noteConnected()
    await end('a')
    await end('b')
    await Promise.all(calls)
    started = []
  })

  /** Two calls every 100 ms, the second of which starts when the first one has run for 2 ms. */
  async function callForOneSecond(commonMs: number): Promise<void> {
    for (let round = 0; round < 10; round++) {
      void call(gate, 'first')
      await vi.advanceTimersByTimeAsync(2)
      void call(gate, 'second')
      await vi.advanceTimersByTimeAsync(commonMs)
      await end('first')
      await end('second')
      await vi.advanceTimersByTimeAsync(98 - commonMs)
    }
  }

  it('WORK-1 is used while it is needed, for two calls at once in 3 % of the time', async () => {
    await callForOneSecond(3)
    void call(gate, 'c')
    void call(gate, 'd')
    expect(started.slice(-2)).toEqual(['c', 'd'])
  })

  it('WORK-1 is not used any more after a second in which the first one was nearly enough', async () => {
    await callForOneSecond(1)
    void call(gate, 'c')
    void call(gate, 'd')
    expect(started.at(-1)).toBe('c')
    await end('c')
    expect(started.at(-1)).toBe('d')
  })

  it('WORK-1 is used again for a call that has waited 25 ms', async () => {
    await vi.advanceTimersByTimeAsync(1_000)
    void call(gate, 'c')
    void call(gate, 'd')
    expect(started).toEqual(['c'])
    await vi.advanceTimersByTimeAsync(25)
    expect(started).toEqual(['c', 'd'])
  })

  it('WORK-1 is not used because another one was closed', async () => {
    gate.noteConnected()
    await vi.advanceTimersByTimeAsync(1_000)
    void call(gate, 'c')
    gate.noteClosed()
    void call(gate, 'd')
    expect(started).toEqual(['c'])
  })
})

it('WORK-1 a call that fails lets the next one in', async () => {
  const gate = new CallGate(5)
  gate.noteConnected()
  const failing = gate.pass(() => Promise.reject(new Error('no')))
  const next = call(gate, 'b')
  await expect(failing).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(0)
  await end('b')
  expect(await next).toBe('b')
})
