// A breaker over the queue of the tests.
import { expect } from 'vitest'
import type { BreakerSettings, BreakerState } from '../../../policy/dependency/breaker.ts'
import type { JobStore } from '../../job-store.ts'
import type { Breaker } from '../../ports/dependency-store.ts'
import { MINUTE, SECOND, TYPE } from '../builders.ts'
import type { TestBench } from '../harness.ts'

export const NAME = 'gateway'
const times = { cooldownMs: MINUTE, probeIntervalMs: SECOND }
export const hold: Partial<BreakerSettings> = { ...times, mode: 'hold' }
export const halfOpen: Partial<BreakerSettings> = { ...times, mode: 'half-open' }

export const outcomes = (failures: number, successes = 0) => [
  ...Array.from({ length: successes }, () => ({ isFailure: false })),
  ...Array.from({ length: failures }, () => ({ isFailure: true })),
]

export const limited = (limitedMs: number, isFailure = false) => [{ isFailure, limitedMs }]

export async function stateOf(store: JobStore): Promise<BreakerState> {
  return (await readBreaker(store)).state
}

export async function readBreaker(store: JobStore): Promise<Breaker> {
  const breaker = (await store.listBreakers()).find(({ name }) => name === NAME)
  if (breaker === undefined) throw new Error(`there is no breaker ${NAME}`)
  return breaker
}

/** A breaker over the queue of the tests, just opened by failing calls. */
export async function openBreaker(store: JobStore, settings: Partial<BreakerSettings>): Promise<void> {
  await store.mapDependency(TYPE, NAME)
  await store.writeBreaker(NAME, settings)
  await store.recordCalls(NAME, outcomes(20))
  expect(['open', 'half-open']).toContain(await stateOf(store))
}

/** `openBreaker` in mode half-open, past its cooldown. */
export async function openHalf(
  { store, elapse }: TestBench,
  settings: Partial<BreakerSettings> = {},
): Promise<void> {
  await openBreaker(store, { ...halfOpen, ...settings })
  await elapse(MINUTE + SECOND)
  expect(await stateOf(store)).toBe('half-open')
}
