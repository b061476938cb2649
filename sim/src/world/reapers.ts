// Processes that only sweep, each with an event loop and a path through the network of its own.
import { startReaper } from '../../../src/runtime/services/reaper.ts'
import type { SimDatabase } from '../database/sim-database.ts'
import type { Settings } from '../plan/settings.ts'
import { Loop, type VirtualTime } from './virtual-time.ts'

export interface ReapersOptions {
  time: VirtualTime
  database: SimDatabase
  settings: Settings
  /** A process that knows nothing of the one before it. */
  onStart: (name: string) => void
}

const TIMEOUT_MS = 30_000

export class Reapers {
  readonly #options: ReapersOptions
  /** By name. */
  readonly #loops = new Map<string, Loop>()

  constructor(options: ReapersOptions) {
    this.#options = options
  }

  startAll(): void {
    for (let nth = 1; nth <= this.#options.settings.reapers; nth++) this.#start(`reaper-${nth}`)
  }

  /** The one that a fault hits. */
  nameOf(target: number): string | undefined {
    const names = [...this.#loops.keys()]
    return names[target % names.length]
  }

  /** SIGKILL. Its successor starts at once. */
  kill(name: string): void {
    const loop = this.#loops.get(name)
    if (loop !== undefined) loop.isDead = true
    this.#start(name)
  }

  /** SIGSTOP. */
  pause(name: string, ms: number): void {
    const loop = this.#loops.get(name)
    if (loop !== undefined)
      loop.blockedUntilMs = Math.max(loop.blockedUntilMs, this.#options.time.localMs + ms)
  }

  /** Whether one of them runs and reaches the server. */
  canSweep(lateMs: number): boolean {
    const { database, time } = this.#options
    for (const [name, { blockedUntilMs }] of this.#loops)
      if (blockedUntilMs <= time.nowMs && database.reaches(name, lateMs)) return true
    return false
  }

  #start(name: string): void {
    const { time, database, settings, onStart } = this.#options
    onStart(name)
    const loop = new Loop(name, time.nowMs)
    this.#loops.set(name, loop)
    const store = database.connect({ loop, owner: name, kind: 'main', timeoutMs: TIMEOUT_MS })
    const intervalMs = settings.policy.sweepIntervalMs
    const tables = [{ name: 'jobs', store }]
    time.after(0, loop, () => void startReaper({ tables, intervalMs, reaperId: name }))
  }
}
