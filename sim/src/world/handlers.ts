// The handlers of simulated workers, by the type of the job: each behaves as badly as its type says.
import { transientError } from '../../../src/errors/index.ts'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import type { JobContext, RegisteredHandler } from '../../../src/runtime/attempt/handler.ts'
import { pause } from '../../../src/runtime/timing/wait.ts'
import { type CallType, isCallType } from '../plan/breakers.ts'
import type { JobType } from '../plan/plan.ts'
import type { Rates } from '../plan/rates.ts'
import type { AttemptPlace } from './places.ts'
import { SERVICE, type Service } from './service.ts'
import type { SimWorker } from './sim-worker.ts'

interface HandlerListener {
  onWork(kind: 'effect' | 'tx-effect', job: ClaimedJob): void
  onPlace(place: AttemptPlace, job: ClaimedJob): void
}

export interface HandlerSetup extends HandlerListener {
  rates: Rates | undefined
  service: Service | undefined
}

export type Work = (job: ClaimedJob, context: JobContext, workMs: number) => Promise<void>

const never = () => new Promise<never>(() => {})

export function handlersOf(
  worker: SimWorker,
  { rates = {}, service, ...listener }: HandlerSetup,
): RegisteredHandler[] {
  const effect = (job: ClaimedJob) => listener.onWork('effect', job)
  /** Ignores its abort signal, as the worst handler would. */
  const plain: Work = async (job, _, workMs) => {
    await pause(workMs)
    effect(job)
  }
  const byType: Record<Exclude<JobType, CallType>, Work> & Partial<Record<CallType, Work>> = {
    quick: plain,
    slow: plain,
    async flaky(job, context, workMs) {
      await plain(job, context, workMs)
      if (job.fence === 1) throw transientError('fails the first time')
    },
    async poison(job, context, workMs) {
      await plain(job, context, workMs)
      throw transientError('fails every time')
    },
    async hang(_, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
    },
    deaf: never,
    async block(job, _, workMs) {
      worker.block(workMs)
      effect(job)
    },
    async tx(job, { tx }, workMs) {
      await pause(workMs / 2)
      await tx(async () => {
        listener.onPlace('tx', job)
        await pause(workMs / 2)
        listener.onWork('tx-effect', job)
        return null
      })
    },
    async killer(_, __, workMs) {
      await pause(workMs)
      worker.kill()
      await never()
    },
    ...service?.works(effect),
  }
  return Object.entries(byType).map(([type, work]) => ({
    type,
    limits: rates[type as JobType],
    dependency: isCallType(type) ? SERVICE : undefined,
    handler: async (job, context) => {
      listener.onPlace('working', job)
      try {
        await work(job, context, (job.payload as { workMs: number }).workMs)
      } finally {
        listener.onPlace('returned', job)
      }
      return null
    },
  }))
}
