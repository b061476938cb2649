// Modes of a table. Nobody writes to this store past its verbs, so `enforce` has nothing to fence and equals `reap`.
import { invalidArgument } from '../../../errors/index.ts'
import type { Job } from '../../../job/job.ts'
import type { ReapedJob } from '../../job-store.ts'
import type {
  ModeStatus,
  ModeStore,
  Observations,
  OnForeignSettle,
  TableMode,
} from '../../ports/mode-store.ts'
import type { MemoryObservation, MemoryState } from '../state/memory-state.ts'
import type { Moment, ReapPlan } from './reap-plan.ts'

export function bindModeVerbs(state: MemoryState): ModeStore {
  return {
    readMode: async () => ({ ...state.mode }),
    readAttachment: async () => ({
      profile: 'native',
      relation: `memory.${state.table}`,
      attachedAt: new Date(state.attachedAtMs),
      ...state.mode,
    }),
    setMode: async (mode, { onForeignSettle } = {}) => setMode(state, mode, onForeignSettle),
    readObservations: async () => readObservations(state),
  }
}

function setMode(state: MemoryState, mode: TableMode, onForeignSettle?: OnForeignSettle): ModeStatus {
  if (!['observe', 'reap', 'enforce'].includes(mode))
    throw invalidArgument('mode', mode, 'observe, reap or enforce')
  const isFit = mode === 'enforce' && ['record', 'refuse'].includes(onForeignSettle ?? 'record')
  if (onForeignSettle !== undefined && !isFit)
    throw invalidArgument(
      'on_foreign_settle',
      onForeignSettle,
      'record or refuse, with the mode enforce only',
    )
  const before = state.mode
  if (before.mode !== mode) {
    if (before.mode === 'observe') closeObservations(state, 'still-stuck')
    if (mode === 'observe') state.observations.clear()
  }
  state.mode = {
    mode,
    onForeignSettle: onForeignSettle ?? (before.mode === mode ? before.onForeignSettle : 'record'),
    since: before.mode === mode ? before.since : new Date(state.nowMs()),
  }
  return { ...state.mode }
}

/** Records each plan once per lease instead of applying it. Rows that no rule can judge are reported as usual. */
export function observe(state: MemoryState, { nowMs }: Moment, plans: ReapPlan[]): ReapedJob[] {
  closeObservations(state, null)
  return plans.flatMap(({ report, write }) => {
    const seen = state.jobs.get(report.jobId)
    if (write === null || seen === undefined) return [report]
    const key = observationKey(seen)
    if (state.observations.has(key)) return []
    state.observations.set(key, {
      jobId: seen.id,
      verdict: report.action,
      seen,
      seenAtMs: nowMs,
      outcome: null,
    })
    return [
      {
        ...report,
        action: 'reported',
        reason: `would_be_${report.action}`,
        attempt: seen.attempt,
        retryInMs: null,
      },
    ]
  })
}

function observationKey({ id, leaseId, workerId, attempt }: Job): string {
  return JSON.stringify([id, leaseId ?? [workerId, attempt]])
}

function closeObservations(state: MemoryState, otherwise: 'still-stuck' | null): void {
  for (const observation of state.observations.values())
    observation.outcome ??= outcomeOf(state, observation) ?? otherwise
}

function outcomeOf(
  state: MemoryState,
  { jobId, seen, seenAtMs }: MemoryObservation,
): MemoryObservation['outcome'] {
  const job = state.jobs.get(jobId)
  if (job === undefined) return 'gone'
  if (
    job.status === 'running' &&
    observationKey(job) === observationKey(seen) &&
    signMs(job) === signMs(seen)
  )
    return null
  const wasReaped = (state.events.get(jobId) ?? []).some(
    ({ at, type }) => at.getTime() >= seenAtMs && type.startsWith('reaper:'),
  )
  return wasReaped ? 'reaped' : 'came-back'
}

/** Last sign of life: the end of the lease, or the newest time of the row. */
function signMs({ leaseExpiresAt, heartbeatAt, startedAt, updatedAt }: Job): number {
  if (leaseExpiresAt !== null) return leaseExpiresAt.getTime()
  return Math.max(...[heartbeatAt, startedAt, updatedAt].map((time) => time?.getTime() ?? 0))
}

function readObservations(state: MemoryState): Observations {
  const seen = [...state.observations.values()].map((observation) => ({
    verdict: observation.verdict,
    seenAtMs: observation.seenAtMs,
    outcome: observation.outcome ?? outcomeOf(state, observation) ?? 'still-stuck',
  }))
  const verdicts = (verdict: MemoryObservation['verdict']) =>
    seen.filter((one) => one.verdict === verdict).length
  const outcomes = (outcome: MemoryObservation['outcome']) =>
    seen.filter((one) => one.outcome === outcome).length
  const [first] = seen.map(({ seenAtMs }) => new Date(seenAtMs))
  return {
    since: state.mode.mode === 'observe' ? state.mode.since : (first ?? null),
    wouldRequeue: verdicts('requeued'),
    wouldDeadLetter: verdicts('dead'),
    wouldCancel: verdicts('cancelled'),
    cameBack: outcomes('came-back'),
    stillStuck: outcomes('still-stuck'),
    reaped: outcomes('reaped'),
    gone: outcomes('gone'),
  }
}
