// Breakers, pauses and limits: the state around the decisions of src/policy/breaker.ts and rate-limit.ts.

import { invalidArgument } from '../../../errors/index.ts'
import {
  afterCalls,
  afterProbe,
  type BreakerFacts,
  breakerState,
  closed,
  closedBreaker,
  countFailures,
  type DependencyCall,
  earlyProbeInMs,
  forgetCalls,
  nextProbeInMs,
  runningProbes,
  unheardJobs,
} from '../../../policy/dependency/breaker.ts'
import type {
  Breaker,
  DeleteBreakerOutcome,
  DependencyStore,
  HoldOptions,
} from '../../ports/dependency-store.ts'
import { checkQueue, checkText, checkWhole } from '../state/checks.ts'
import type { MemoryBreaker, MemoryState } from '../state/memory-state.ts'
import { changeSettings } from './breaker-settings.ts'
import { listRateLimits, pruneRateLimits, takeTokens } from './limits.ts'
import { limitQueue, listQueues, mapDependency, pauseQueue, resumeQueue } from './queues.ts'

const MAX_CALLS = 10_000
const SHOWN_CALLS = 20
const YEAR_MS = 31_536_000_000

export function bindDependencyVerbs(state: MemoryState): DependencyStore {
  return {
    mapDependency: async (queue, name) => {
      checkQueue(queue)
      if (name !== null) openRow(state, name)
      return mapDependency(state, queue, name)
    },
    writeBreaker: async (name, change) => {
      const known = state.breakers.get(name)?.facts ?? closedBreaker
      const facts = changeSettings(known, change, state.nowMs())
      writeRow(state, name, { facts })
      return describe(state, name)
    },
    recordCalls: async (name, calls) => {
      checkCalls(calls)
      return change(state, name, (facts, nowMs) => afterCalls(facts, calls, nowMs))
    },
    recordProbe: async (name, isHealthy) => {
      if (typeof isHealthy !== 'boolean') throw invalidArgument('isHealthy', isHealthy, 'true or false')
      return change(state, name, (facts, nowMs) => afterProbe(facts, isHealthy, nowMs))
    },
    holdBreaker: async (name, options = {}) => {
      const untilMs = endOf(state, options)
      const { facts } = openRow(state, name)
      writeRow(state, name, { facts: { ...facts, hold: { untilMs } } })
      return note(state, name, options)
    },
    resumeBreaker: async (name, options = {}) => {
      const { facts } = openRow(state, name)
      if (!facts.isOpen && facts.hold === null) return describe(state, name)
      writeRow(state, name, { facts: { ...closed(facts), hold: null } })
      return note(state, name, options)
    },
    deleteBreaker: async (name) => deleteBreaker(state, name),
    listBreakers: async () => [...state.breakers.keys()].toSorted().map((name) => describe(state, name)),
    pauseQueue: async (queue, options = {}) => pauseQueue(state, queue, endOf(state, options), options),
    resumeQueue: async (queue) => resumeQueue(state, queue),
    limitQueue: async (queue, limits) => limitQueue(state, queue, limits),
    listQueues: async (request = {}) => listQueues(state, request),
    takeTokens: async (limits, tokens = 1) => takeTokens(state, limits, tokens),
    listRateLimits: async (request = {}) => listRateLimits(state, request),
    pruneRateLimits: async (limit = 1_000) => pruneRateLimits(state, limit),
  }
}

function openRow(state: MemoryState, name: string): MemoryBreaker {
  checkText('name', name, 200)
  const known = state.breakers.get(name)
  if (known !== undefined) return known
  const row = { facts: closedBreaker, changedAtMs: state.nowMs(), changedBy: null, reason: null }
  state.breakers.set(name, row)
  return row
}

function writeRow(state: MemoryState, name: string, change: Partial<MemoryBreaker>): void {
  state.breakers.set(name, { ...openRow(state, name), ...change })
}

function deleteBreaker(state: MemoryState, name: string): DeleteBreakerOutcome {
  checkText('name', name, 200)
  if ([...state.dependencies.values()].includes(name)) return 'in-use'
  return state.breakers.delete(name) ? 'deleted' : 'not-found'
}

/** An operator's reason for a hold stays, whatever the calls beneath it report. */
function change(
  state: MemoryState,
  name: string,
  decide: (facts: BreakerFacts, nowMs: number) => BreakerFacts,
): Breaker {
  const nowMs = state.nowMs()
  const { facts: before } = openRow(state, name)
  const facts = decide(before, nowMs)
  writeRow(state, name, { facts })
  const wasHeld = breakerState(before, nowMs) === 'held'
  const isLimited = !wasHeld && !facts.isOpen && breakerState(facts, nowMs) === 'held'
  if ((before.isOpen !== facts.isOpen && !wasHeld) || isLimited) {
    const reason = isLimited ? 'limited' : facts.isOpen ? 'calls-failed' : 'probes-succeeded'
    writeRow(state, name, { changedAtMs: nowMs, changedBy: null, reason })
  }
  return describe(state, name)
}

function note(state: MemoryState, name: string, { actor = null, reason = null }: Noted): Breaker {
  writeRow(state, name, { changedAtMs: state.nowMs(), changedBy: actor, reason })
  return describe(state, name)
}

interface Noted {
  actor?: string | null
  reason?: string | null
}

function endOf(state: MemoryState, { durationMs }: HoldOptions): number | null {
  checkWhole(durationMs, 'durationMs', 1, YEAR_MS)
  return durationMs === undefined ? null : state.nowMs() + durationMs
}

function checkCalls(calls: DependencyCall[]): void {
  if (!Array.isArray(calls) || calls.length > MAX_CALLS)
    throw invalidArgument('calls', calls, `an array of at most ${MAX_CALLS} calls`)
  const bad = calls.find(({ isFailure, jobId }) => typeof (isFailure ?? (jobId && true)) !== 'boolean')
  if (bad !== undefined)
    throw invalidArgument('call', bad, 'an object with isFailure, true or false, or with a jobId alone')
  const unlimited = calls.find(({ limitedMs = 0 }) => !(limitedMs >= 0 && limitedMs <= YEAR_MS))
  if (unlimited !== undefined)
    throw invalidArgument('limitedMs', unlimited.limitedMs, 'milliseconds from 0 to one year')
}

function describe(state: MemoryState, name: string): Breaker {
  const { facts, changedAtMs, changedBy, reason } = openRow(state, name)
  const nowMs = state.nowMs()
  const condition = breakerState(facts, nowMs)
  const { calls, calledAtMs } = forgetCalls(facts, nowMs)
  const lastCalls = calls.map((isFailure, nth) => ({ isFailure, at: dateOrNull(calledAtMs[nth]) }))
  const untilMs = condition === 'held' ? (facts.hold?.untilMs ?? null) : null
  return {
    name,
    state: condition,
    since: new Date(changedAtMs),
    changedBy,
    reason,
    calls: calls.length,
    failures: countFailures(calls),
    successes: facts.successes,
    probing: runningProbes(facts, nowMs).length,
    reopens: facts.reopens ?? 0,
    unheard: unheardJobs(facts, nowMs),
    nextProbeInMs: nextProbeInMs(facts, nowMs),
    earlyProbeInMs: earlyProbeInMs(facts, nowMs),
    heldForMs: untilMs === null ? null : untilMs - nowMs,
    lastCalls: lastCalls.slice(-SHOWN_CALLS),
    settings: { ...facts.settings },
    queues: [...state.dependencies]
      .filter(([, mapped]) => mapped === name)
      .map(([queue]) => ({ attachment: state.table, queue }))
      .toSorted((a, b) => (a.queue < b.queue ? -1 : 1)),
  }
}

const dateOrNull = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))
