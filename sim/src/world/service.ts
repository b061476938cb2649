// A service that jobs call: it answers, fails, refuses connections, hangs, or asks for a pause.
import { transientError } from '../../../src/errors/index.ts'
import type { RegisteredHandler } from '../../../src/runtime/attempt/handler.ts'
import { retryUntilAnswered } from '../../../src/runtime/calls/retry-until-answered.ts'
import type { WatchedDependency } from '../../../src/runtime/limits/breaker-watch.ts'
import { prepareDependencies } from '../../../src/runtime/limits/dependencies.ts'
import { pause } from '../../../src/runtime/timing/wait.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { type CallType, callTypes, type PlannedBreaker } from '../plan/breakers.ts'
import type { Work } from './handlers.ts'

export const SERVICE = 'service'
export const CALL_TIMEOUT_MS = 1_000
const ADDRESS = 'http://service.test/'
/** The pause that it asks for. */
const LIMITED_MS = 1_000
const ANSWER_MS = 3
/** One job of so many makes no call. */
const SILENT = 8

const troubles = ['fails', 'refuses', 'hangs', 'limits', 'limits-and-fails'] as const
type Trouble = (typeof troubles)[number]

export class Service {
  readonly #planned: PlannedBreaker
  #trouble: Trouble | null = null
  /** Times of trouble may overlap. */
  #failures = 0

  constructor(planned: PlannedBreaker) {
    this.#planned = planned
  }

  /** `size`: a share in [0, 1) that says what happens to calls. */
  fail(size: number): void {
    this.#failures++
    this.#trouble = troubles[Math.floor(size * troubles.length)] ?? 'fails'
  }

  recover(): void {
    if (--this.#failures === 0) this.#trouble = null
  }

  /** As workers of an earlier deploy have left it: a failover may lose the commits of this one. */
  begin(store: JobStore): void {
    void store.writeBreaker(SERVICE, this.#planned.settings)
    for (const type of callTypes) void store.mapDependency(type, SERVICE)
  }

  /** As a worker prepares its dependencies before its first claim. */
  async prepare(store: JobStore, handlers: readonly RegisteredHandler[]): Promise<WatchedDependency[]> {
    const { settings, probe } = this.#planned
    const watched = await retryUntilAnswered(
      () => prepareDependencies(store, handlers, { [SERVICE]: settings }),
      () => false,
    )
    return watched.map((dependency) =>
      probe === 'none' ? dependency : { ...dependency, probe: () => this.#probe(probe) },
    )
  }

  async #probe(kind: 'right' | 'wrong'): Promise<boolean> {
    await pause(ANSWER_MS)
    return kind === 'wrong' || this.#trouble === null
  }

  readonly fetch: typeof globalThis.fetch = async (_, init) => {
    await pause(ANSWER_MS)
    const retryLater = { 'retry-after': String(LIMITED_MS / 1_000) }
    if (this.#trouble === 'fails') return new Response(null, { status: 500 })
    if (this.#trouble === 'refuses')
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      })
    if (this.#trouble === 'hangs') return untilAborted(init?.signal ?? undefined)
    if (this.#trouble === 'limits') return new Response(null, { status: 429, headers: retryLater })
    if (this.#trouble === 'limits-and-fails') return new Response(null, { status: 503, headers: retryLater })
    return new Response(null)
  }

  works(effect: (job: Parameters<Work>[0]) => void): Record<CallType, Work> {
    return {
      call: async (job, { gateway }, workMs) => {
        await pause(workMs / 2)
        if ((job.payload as { nth: number }).nth % SILENT > 0) await gateway(ADDRESS)
        await pause(workMs / 2)
        effect(job)
      },
      client: async (job, { release }, workMs) => {
        await pause(workMs + ANSWER_MS)
        const trouble = this.#trouble
        if (trouble === 'hangs') {
          await pause(CALL_TIMEOUT_MS)
          throw transientError('no answer', { code: 'GW_TIMEOUT' })
        }
        if (trouble === 'limits') release({ afterMs: LIMITED_MS, isLimited: true })
        if (trouble !== null) throw transientError('the service fails', { code: 'GW_5XX' })
        effect(job)
      },
    }
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal?.reason as Error)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted === true) abort()
  })
}
