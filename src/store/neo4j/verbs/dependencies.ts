import { notSupported } from '../../capability.ts'
import { bindDependencyVerbs as bindInMemory } from '../../memory/dependencies/dependencies.ts'
import type { DependencyStore } from '../../ports/dependency-store.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { listQueues } from './lists.ts'

/** Records that many workers write are locked; those that people write are compared when written. */
export function bindDependencyVerbs(runner: VerbRunner): DependencyStore {
  const { change, look } = runner
  const breaker = (name: string) => ({
    held: [['breakers', name]] as const,
    kinds: ['dependencies'] as const,
  })
  return {
    mapDependency: (queue, name) =>
      change({ kinds: ['breakers', 'dependencies'] }, (state) =>
        bindInMemory(state).mapDependency(queue, name),
      ),
    writeBreaker: (name, settings) =>
      change(breaker(name), (state) => bindInMemory(state).writeBreaker(name, settings)),
    recordCalls: (name, calls) =>
      change(breaker(name), (state) => bindInMemory(state).recordCalls(name, calls)),
    recordProbe: (name, isHealthy) =>
      change(breaker(name), (state) => bindInMemory(state).recordProbe(name, isHealthy)),
    holdBreaker: (name, options) =>
      change(breaker(name), (state) => bindInMemory(state).holdBreaker(name, options)),
    resumeBreaker: (name, options) =>
      change(breaker(name), (state) => bindInMemory(state).resumeBreaker(name, options)),
    deleteBreaker: (name) => change(breaker(name), (state) => bindInMemory(state).deleteBreaker(name)),
    listBreakers: () =>
      look({ kinds: ['breakers', 'dependencies'] }, (state) => bindInMemory(state).listBreakers()),
    pauseQueue: (queue, options) =>
      change({ held: [['pauses', queue]] }, (state) => bindInMemory(state).pauseQueue(queue, options)),
    resumeQueue: (queue, options) =>
      change({ held: [['pauses', queue]] }, (state) => bindInMemory(state).resumeQueue(queue, options)),
    limitQueue: async () => {
      throw notSupported('Neo4j', 'groups')
    },
    listQueues: (request = {}) => listQueues(runner, request),
    takeTokens: (limits, tokens) => {
      const keys = Array.isArray(limits) ? limits.map(({ key }) => key) : []
      const held = keys.flatMap((key) => [['fullAtMs', key] as const, ['limitUses', key] as const])
      return change({ held }, (state) => bindInMemory(state).takeTokens(limits, tokens))
    },
    listRateLimits: (request) =>
      look({ kinds: ['fullAtMs', 'limitUses'] }, (state) => bindInMemory(state).listRateLimits(request)),
    pruneRateLimits: (limit) =>
      change({ kinds: ['fullAtMs', 'limitUses'] }, (state) => bindInMemory(state).pruneRateLimits(limit)),
  }
}
