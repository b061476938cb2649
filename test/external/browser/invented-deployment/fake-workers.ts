// Workers and SLO of the invented deployment.
import type { Slo, Worker, WorkerList } from '../../../../src/http/contract/index.ts'
import { describeFleet, fleetText } from '../../../../src/policy/fleet/fleet.ts'
import { type FakeWorld, leasesOf, STAGES, WORKERS } from './fake-world.ts'
import { iso } from './iso.ts'

const DRAINING = 'ip-10-0-4-5:12'
const REPORT_MS = 15_000

export function workersOf(world: FakeWorld): Worker[] {
  const now = Date.now()
  const ids = world.jobs.size === 0 ? [] : ['ip-10-0-3-3:907', ...WORKERS]
  return ids.map((id) => {
    const leases = leasesOf(world, now).filter(({ worker_id }) => worker_id === id)
    const [host = id, pid = '0'] = id.split(':')
    const silentMs = id === 'ip-10-0-3-3:907' ? now - world.startedAtMs + 26_000 : 1_400
    return {
      id,
      table: 'jobs',
      state:
        silentMs >= 10_000 ? (leases.length > 0 ? 'silent' : 'gone') : id === DRAINING ? 'draining' : 'live',
      host,
      pid: Number(pid),
      version: '0.1.0',
      app_version: id === DRAINING ? '1.4.1' : '1.4.2',
      types: STAGES.map(({ type }) => type),
      concurrency: 8,
      running: leases.length,
      leases: leases.length,
      claimed_ahead: 0,
      loop_lag_ms: 3,
      seen_ms: silentMs,
      started_at: iso(world.startedAtMs - 7_200_000),
      seen_at: iso(now - silentMs),
      draining_at: id === DRAINING ? iso(now - 40_000) : null,
      stopped_at: null,
      exit_code: null,
      drain_requested_at: null,
      drain_requested_by: null,
      drain_reason: null,
      presence: 'present',
      report_times: Array.from({ length: 20 }, (_, nth) => iso(now - silentMs - (19 - nth) * REPORT_MS)),
    }
  })
}

export function fleetOf(workers: Worker[]): Pick<WorkerList, 'fleet' | 'workers'> {
  const states = workers.map(({ id, state, app_version, started_at }) => {
    return { workerId: id, state, appVersion: app_version, startedAt: new Date(started_at) }
  })
  const { isDeploying, versions, ...counts } = describeFleet(states, Date.now())
  const shown = versions.map(({ appVersion, workers: count }) => ({
    app_version: appVersion,
    workers: count,
  }))
  const text = fleetText({ isDeploying, versions, ...counts })
  return { fleet: { ...counts, versions: shown, is_deploying: isDeploying, text }, workers }
}

export function sloOf(world: FakeWorld): Slo {
  const rescued = world.events.length
  return {
    table: 'jobs',
    rescued,
    in_time: rescued,
    share: rescued === 0 ? null : 1,
    is_kept: true,
    p50_ms: rescued === 0 ? null : 31_000,
    p95_ms: rescued === 0 ? null : 44_000,
    worst_ms: rescued === 0 ? null : 47_000,
    promise_ms: 50_000,
    oldest_stuck_ms: null,
    stale_leases: 0,
    by_cause: { crash: rescued, timeout: 0, 'worker-gone': 0 },
  }
}
