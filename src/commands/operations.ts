// Redrives that run in the process of a server: begun by one request, watched and aborted by others. What was brought back
// stays so; the operation itself is forgotten with the process.
import { randomUUID } from 'node:crypto'
import type { RedriveProgress, RedriveReport } from '../runtime/redrive.ts'

export interface Operation extends Omit<RedriveReport, 'stopped'> {
  id: string
  table: string
  causeId: string
  actor: string
  reason: string | null
  state: 'running' | 'done' | 'stopped' | 'failed'
  phase: RedriveProgress['phase'] | null
  stopped: RedriveReport['stopped']
  beganAt: Date
  endedAt: Date | null
}

export interface OperationPlan {
  table: string
  causeId: string
  actor: string
  reason: string | null
  total: number
}

type Run = (signal: AbortSignal, tell: (progress: RedriveProgress) => void) => Promise<RedriveReport>

const KEPT = 100

export class Operations {
  readonly #operations = new Map<
    string,
    { operation: Operation; abort: AbortController; end: Promise<void> }
  >()

  begin(plan: OperationPlan, run: Run): Operation {
    const operation: Operation = {
      id: randomUUID(),
      ...plan,
      state: 'running',
      phase: null,
      redriven: 0,
      refused: 0,
      succeeded: 0,
      failed: 0,
      stopped: null,
      beganAt: new Date(),
      endedAt: null,
    }
    const abort = new AbortController()
    const end = run(abort.signal, (progress) => void Object.assign(operation, progress)).then(
      (report) => {
        Object.assign(operation, report)
        operation.state = report.stopped === null ? 'done' : 'stopped'
        operation.endedAt = new Date()
      },
      () => {
        operation.state = 'failed'
        operation.endedAt = new Date()
      },
    )
    this.#operations.set(operation.id, { operation, abort, end })
    this.#forgetOld()
    return { ...operation }
  }

  list(): Operation[] {
    return [...this.#operations.values()].map(({ operation }) => ({ ...operation })).toReversed()
  }

  find(id: string): Operation | null {
    const found = this.#operations.get(id)
    return found === undefined ? null : { ...found.operation }
  }

  /** Settles when it has ended. */
  async abort(id: string): Promise<Operation | null> {
    const found = this.#operations.get(id)
    if (found === undefined) return null
    found.abort.abort()
    await found.end
    return { ...found.operation }
  }

  async close(): Promise<void> {
    for (const id of this.#operations.keys()) await this.abort(id)
  }

  #forgetOld(): void {
    for (const [id, { operation }] of this.#operations) {
      if (this.#operations.size <= KEPT) return
      if (operation.state !== 'running') this.#operations.delete(id)
    }
  }
}
