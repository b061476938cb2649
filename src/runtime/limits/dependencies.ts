// The services that handlers depend on: before the first claim, their breakers are created and their queues mapped to them.
import { invalidArgument, isJobError } from '../../errors/index.ts'
import type { BreakerSettings, JobStore, QueueLimits } from '../../store/job-store.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import type { WatchedDependency } from './breaker-watch.ts'
import { createGateway } from './gateway.ts'

export interface DependencyOptions extends Partial<BreakerSettings> {
  /** Probed while the breaker is open: an answer with a status below 500 is healthy. */
  probeUrl?: string
}

/** A slower answer does not count as healthy. */
const LONGEST_PROBE_MS = 5_000

export async function prepareDependencies(
  store: Pick<JobStore, 'writeBreaker' | 'mapDependency'>,
  handlers: readonly Pick<RegisteredHandler, 'type' | 'queue' | 'dependency'>[],
  options: Readonly<Record<string, DependencyOptions>>,
): Promise<WatchedDependency[]> {
  const byQueue = dependencyByQueue(handlers)
  const names = [...new Set(byQueue.values())]
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw invalidArgument(
        'dependencies',
        name,
        `the dependency of a handler: ${names.join(', ') || 'none has one'}`,
      )
  }
  const watched = names.map((name) => watchedDependency(name, options[name]?.probeUrl))
  for (const name of names) {
    const { probeUrl: _, ...settings } = options[name] ?? {}
    await store.writeBreaker(name, settings)
  }
  for (const [queue, name] of byQueue) await store.mapDependency(queue, name)
  return watched
}

/** Limits of queues hold for all processes, so they are stored. Queues that are not named keep theirs. */
export async function prepareQueues(
  store: Pick<JobStore, 'limitQueue'>,
  queues: Readonly<Record<string, QueueLimits>> = {},
): Promise<void> {
  for (const [queue, limits] of Object.entries(queues)) await store.limitQueue(queue, limits)
}

function dependencyByQueue(
  handlers: readonly Pick<RegisteredHandler, 'type' | 'queue' | 'dependency'>[],
): Map<string, string> {
  const byQueue = new Map<string, string>()
  for (const { type, queue = type, dependency } of handlers) {
    if (dependency === undefined) continue
    const other = byQueue.get(queue) ?? dependency
    if (other !== dependency)
      throw invalidArgument('dependency', dependency, `one for each queue: ${queue} has ${other} already`)
    byQueue.set(queue, dependency)
  }
  return byQueue
}

function watchedDependency(name: string, probeUrl: string | undefined): WatchedDependency {
  if (probeUrl === undefined) return { name }
  const call = createGateway({ baseUrl: probeUrl, timeoutMs: LONGEST_PROBE_MS })
  return {
    name,
    async probe() {
      try {
        const response = await call(probeUrl)
        await response.body?.cancel()
        return true
      } catch (error) {
        return isJobError(error) && error.gatewayStatus !== undefined && error.gatewayStatus < 500
      }
    },
  }
}
