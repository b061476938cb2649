// The workers in service, and whether a deploy replaces them.

export interface FleetWorker {
  workerId: string
  state: 'live' | 'late' | 'silent' | 'gone' | 'draining' | 'stopped' | 'zombie'
  appVersion: string | null
  startedAt: Date
}

export interface Fleet {
  /** Neither stopped nor gone nor silent. */
  workers: number
  draining: number
  /** Live, and started within 2 minutes. */
  starting: number
  /** Versions of the application, the most frequent first; null for workers that report none. */
  versions: { appVersion: string | null; workers: number }[]
  /** Workers leave while others start, or some of either kind among several versions. */
  isDeploying: boolean
}

const STARTING_MS = 120_000

export function describeFleet(workers: FleetWorker[], nowMs: number): Fleet {
  // A worker of several tables is listed in each.
  const known = [...new Map(workers.map((worker) => [worker.workerId, worker])).values()]
  const inService = known.filter(({ state }) => !['stopped', 'gone', 'silent'].includes(state))
  const draining = inService.filter(({ state }) => state === 'draining').length
  const starting = inService.filter(
    ({ state, startedAt }) => state === 'live' && nowMs - startedAt.getTime() < STARTING_MS,
  ).length
  const counts = new Map<string | null, number>()
  for (const { appVersion } of inService) counts.set(appVersion, (counts.get(appVersion) ?? 0) + 1)
  const versions = [...counts]
    .map(([appVersion, count]) => ({ appVersion, workers: count }))
    .toSorted((a, b) => b.workers - a.workers || ((a.appVersion ?? '') < (b.appVersion ?? '') ? -1 : 1))
  const isDeploying = (draining > 0 && starting > 0) || (versions.length > 1 && draining + starting > 0)
  return { workers: inService.length, draining, starting, versions, isDeploying }
}

/** `deploy in progress: 1 draining, 2 started within 2 min; versions 1.4.2 (2), 1.4.1 (1)`; null if there is nothing to say. */
export function fleetText({ draining, starting, versions, isDeploying }: Fleet): string | null {
  const counts = [
    ...(draining > 0 ? [`${draining} draining`] : []),
    ...(isDeploying && starting > 0 ? [`${starting} started within 2 min`] : []),
  ]
  const known = versions.filter(({ appVersion }) => appVersion !== null)
  const one = versions.length === 1 ? `version ${known[0]?.appVersion ?? ''}` : null
  const several = versions.map(({ appVersion, workers }) => `${appVersion ?? 'unknown'} (${workers})`)
  const shown = known.length === 0 ? [] : [one ?? `versions ${several.join(', ')}`]
  const text = [counts.join(', '), ...shown].filter((part) => part !== '').join('; ')
  if (isDeploying) return `deploy in progress: ${text}`
  return text === '' ? null : text
}
