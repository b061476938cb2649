// Sessions of the server that hold presence locks, and what the engine notes about them: look_at_workers.sql, take_presence.sql
// and gone_workers.sql in TypeScript.
import type { MemoryState } from '../../../src/store/memory/state/memory-state.ts'
import type { PresenceLook } from '../../../src/store/presence-connection.ts'

export interface Session {
  owner: string
  /** Whose lock it holds. */
  workerId: string | null
  isWatching: boolean
  usedAtMs: number
  onEnd: () => void
}

/** The part of a worker's row that is about presence. */
interface Row {
  graceMs: number
  epoch: number | null
  /** When it was inserted, or the worker last showed life. A failover may undo the report of a worker, and not its next row. */
  shownAtMs: number
  vanishedAtMs: number | null
  absentAtMs: number | null
}

const MOST_WATCHERS = 2
/** A session that watches and was not used for longer is frozen. */
const FROZEN_MS = 10_000
/** For so long a look reports again that a worker is gone: a job of it may have been locked. */
const REPORTED_MS = 5_000

interface Seen extends Row {
  workerId: string
  isPresent: boolean
  isAbsent: boolean
  isDue: boolean
  isChanged: boolean
}

export class Sessions {
  readonly #state: MemoryState
  readonly #epoch: () => number
  readonly #open = new Set<Session>()
  readonly #rows = new Map<string, Row>()

  constructor(state: MemoryState, epoch: () => number) {
    this.#state = state
    this.#epoch = epoch
  }

  begin(session: Session): void {
    this.#open.add(session)
  }

  end(session: Session): void {
    if (this.#open.delete(session)) session.onEnd()
  }

  /** The server ends them all, or those of one process. */
  endAll(owner?: string): void {
    for (const session of this.#open) if (owner === undefined || session.owner === owner) this.end(session)
  }

  nowMs(): number {
    return this.#state.nowMs()
  }

  isOpen(session: Session): boolean {
    return this.#open.has(session)
  }

  take(session: Session, workerId: string, graceMs: number): void {
    session.workerId = workerId
    const known = this.#rows.get(workerId)
    this.#rows.set(workerId, {
      graceMs,
      epoch: this.#epoch(),
      shownAtMs: known?.shownAtMs ?? this.#state.nowMs(),
      vanishedAtMs: known?.vanishedAtMs ?? null,
      absentAtMs: null,
    })
  }

  leave(workerId: string): void {
    this.#rows.delete(workerId)
  }

  showLife(workerId: string): void {
    const worker = this.#state.workers.get(workerId)
    if (worker !== undefined)
      this.#state.workers.set(workerId, { ...worker, seenAt: new Date(this.#state.nowMs()) })
    const row = this.#rows.get(workerId)
    if (row !== undefined) row.shownAtMs = this.#state.nowMs()
  }

  watch(session: Session): boolean {
    if (this.watchers() >= MOST_WATCHERS) return false
    session.isWatching = true
    return true
  }

  watchers(): number {
    const sinceMs = this.#state.nowMs() - FROZEN_MS
    let watchers = 0
    for (const { isWatching, usedAtMs } of this.#open) if (isWatching && usedAtMs > sinceMs) watchers++
    return watchers
  }

  look(): PresenceLook {
    const nowMs = this.#state.nowMs()
    const seen = this.#see(nowMs)
    const isOfMass = massOf(seen)
    let newlyGone = this.#countGone(nowMs)
    for (const {
      workerId,
      graceMs,
      shownAtMs,
      vanishedAtMs,
      isPresent,
      isAbsent,
      isDue,
      isChanged,
    } of seen) {
      if (!isChanged) continue
      const isJudged = isAbsent && !isOfMass({ vanishedAtMs })
      this.#rows.set(workerId, {
        graceMs,
        shownAtMs,
        vanishedAtMs,
        epoch: isPresent || isJudged ? this.#epoch() : null,
        absentAtMs: isJudged ? nowMs : null,
      })
      if (isDue && isJudged) newlyGone++
    }
    return { newlyGone, watchers: this.watchers() }
  }

  /** Workers that are gone, each with the first look without its lock. */
  gone(): Map<string, number> {
    const gone = new Map<string, number>()
    for (const [workerId, row] of this.#rows)
      if (row.vanishedAtMs !== null && this.#isGone(workerId, row) && !this.#isHeld(workerId))
        gone.set(workerId, row.vanishedAtMs)
    return gone
  }

  /** forget_gone_workers: those that hold no job any more are judged no longer. */
  forgetGone(workerIds: Iterable<string>): void {
    for (const workerId of workerIds) if (!this.#holdsJob(workerId)) this.#rows.delete(workerId)
  }

  #holdsJob(workerId: string): boolean {
    for (const job of this.#state.jobs.running()) if (job.workerId === workerId) return true
    return false
  }

  #countGone(nowMs: number): number {
    let gone = 0
    for (const [workerId, row] of this.#rows)
      if (row.absentAtMs !== null && row.absentAtMs > nowMs - REPORTED_MS && this.#isGone(workerId, row))
        gone++
    return gone
  }

  #see(nowMs: number): Seen[] {
    const seen: Seen[] = []
    for (const [workerId, row] of this.#rows)
      if ((this.#state.workers.get(workerId)?.stoppedAt ?? null) === null)
        seen.push(this.#seeOne(workerId, row, nowMs))
    return seen
  }

  #seeOne(workerId: string, row: Row, nowMs: number): Seen {
    const { graceMs, epoch, shownAtMs, absentAtMs } = row
    const isPresent = this.#isHeld(workerId)
    const isAbsent = !isPresent && epoch === this.#epoch()
    const isUnseen = absentAtMs === null || absentAtMs + 2 * graceMs < nowMs
    // Nobody looked for twice the grace, or it has shown life: the absence starts again.
    const isAnew = isAbsent && (isUnseen || this.#seenAtMs(workerId, row) >= (row.vanishedAtMs ?? nowMs))
    const vanishedAtMs = isAnew ? nowMs : row.vanishedAtMs
    const isGone = isAbsent && this.#isGone(workerId, row)
    return {
      workerId,
      graceMs,
      epoch,
      shownAtMs,
      vanishedAtMs,
      absentAtMs,
      isPresent,
      isAbsent,
      isDue: isAbsent && !isGone && nowMs >= (vanishedAtMs ?? nowMs) + graceMs,
      isChanged: (!isGone && (isAbsent || absentAtMs !== null)) || (isPresent && epoch !== this.#epoch()),
    }
  }

  #isHeld(workerId: string): boolean {
    for (const session of this.#open) if (session.workerId === workerId) return true
    return false
  }

  #seenAtMs(workerId: string, { shownAtMs }: Row): number {
    return Math.max(shownAtMs, this.#state.workers.get(workerId)?.seenAt.getTime() ?? 0)
  }

  /** Absent at every look for its whole grace in this run of the server, and without a sign of life. */
  #isGone(workerId: string, row: Row): boolean {
    const { vanishedAtMs, absentAtMs, graceMs, epoch } = row
    if (vanishedAtMs === null || absentAtMs === null || epoch !== this.#epoch()) return false
    return absentAtMs >= vanishedAtMs + graceMs && this.#seenAtMs(workerId, row) < vanishedAtMs
  }
}

/** Workers that vanished together: a proxy, the server or full slots, and leases decide (C26). */
function massOf(seen: Seen[]): (row: Pick<Row, 'vanishedAtMs'>) => boolean {
  const due = seen.filter(({ isDue }) => isDue)
  if (due.length === 0) return () => false
  const sinceMs = Math.min(...due.map(({ vanishedAtMs, graceMs }) => (vanishedAtMs ?? 0) - graceMs))
  const hasVanished = ({ vanishedAtMs }: Pick<Row, 'vanishedAtMs'>) => (vanishedAtMs ?? 0) >= sinceMs
  const vanished = seen.filter(hasVanished).length
  const known = seen.filter((one) => hasVanished(one) || one.isPresent).length
  const isMass = (vanished >= 3 && 2 * vanished > known) || (vanished === 2 && known === 2)
  return (row) => isMass && hasVanished(row)
}
