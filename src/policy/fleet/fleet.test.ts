import { describe, expect, it } from 'vitest'
import { describeFleet, type FleetWorker, fleetText } from './fleet.ts'

const NOW = Date.parse('2026-05-12T14:00:00Z')

let ids = 0
const worker = (more: Partial<FleetWorker & { agoMs: number }> = {}): FleetWorker => ({
  workerId: more.workerId ?? `worker-${++ids}`,
  state: more.state ?? 'live',
  appVersion: more.appVersion ?? null,
  startedAt: new Date(NOW - (more.agoMs ?? 3_600_000)),
})

const textOf = (workers: FleetWorker[]) => fleetText(describeFleet(workers, NOW))

describe('a fleet of workers', () => {
  it('SEE-9 is deployed while old workers drain and new ones start', () => {
    const workers = [
      worker({ state: 'draining', appVersion: '1.4.1' }),
      worker({ appVersion: '1.4.2', agoMs: 10_000 }),
      worker({ appVersion: '1.4.2', agoMs: 20_000 }),
    ]
    expect(describeFleet(workers, NOW)).toEqual({
      workers: 3,
      draining: 1,
      starting: 2,
      versions: [
        { appVersion: '1.4.2', workers: 2 },
        { appVersion: '1.4.1', workers: 1 },
      ],
      isDeploying: true,
    })
    expect(textOf(workers)).toBe(
      'deploy in progress: 1 draining, 2 started within 2 min; versions 1.4.2 (2), 1.4.1 (1)',
    )
  })

  it('SEE-9 has two versions for good without a deploy', () => {
    const workers = [worker({ appVersion: 'a' }), worker({ appVersion: 'b' })]
    expect(describeFleet(workers, NOW).isDeploying).toBe(false)
    expect(textOf(workers)).toBe('versions a (1), b (1)')
  })

  it('SEE-9 says a drain alone, and nothing where nothing is known', () => {
    expect(textOf([worker(), worker({ state: 'draining' })])).toBe('1 draining')
    expect(textOf([worker(), worker({ agoMs: 1_000 })])).toBeNull()
    expect(textOf([worker({ appVersion: '2.0.0' })])).toBe('version 2.0.0')
  })

  it('SEE-9 counts a worker of two tables once', () => {
    expect(describeFleet([worker({ workerId: 'a' }), worker({ workerId: 'a' })], NOW).workers).toBe(1)
  })

  it('SEE-7 SEE-9 counts neither stopped workers nor lost nor silent ones', () => {
    const gone = [
      worker({ state: 'stopped', appVersion: 'a' }),
      worker({ state: 'gone', appVersion: 'b' }),
      worker({ state: 'silent', appVersion: 'b' }),
    ]
    expect(describeFleet([...gone, worker({ appVersion: 'c' })], NOW)).toMatchObject({
      workers: 1,
      versions: [{ appVersion: 'c', workers: 1 }],
    })
  })
})
