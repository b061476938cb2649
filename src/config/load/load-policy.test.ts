import { describe, expect, it } from 'vitest'
import { type Env, load, refuse, valueOf } from '../../../test/support/load-env.ts'
import { nativePolicy, withOverride } from '../../policy/policy.ts'
import { shippedPolicy } from '../../profile/shipped.ts'
import { findMissing } from './load-config.ts'

describe('attempts and leases', () => {
  it('OPS-8 lets JOB_ override QUEUE_, and has the number written into the row at enqueue', () => {
    const both = load({ JOB_MAX_ATTEMPTS: '5', QUEUE_MAX_ATTEMPTS: '7', UNSTUCK_PROFILE: 'clip' })
    expect([both.policy, both.enqueueMaxAttempts]).toEqual([{ maxAttempts: 5 }, 5])
    expect(load({ QUEUE_MAX_ATTEMPTS: '7' }).enqueueMaxAttempts).toBe(7)
  })

  it('FAIL-4 takes RETRY_ in native, between JOB_ and QUEUE_', () => {
    const env: Env = { RETRY_MAX_ATTEMPTS: '4', QUEUE_MAX_ATTEMPTS: '7', RETRY_BASE_DELAY_MS: '1000' }
    expect(load(env).enqueueMaxAttempts).toBe(4)
    expect(load({ ...env, JOB_MAX_ATTEMPTS: '5' }).enqueueMaxAttempts).toBe(5)
    expect(load({ ...env, RETRY_JITTER_MAX_MS: '0' }).policy).toMatchObject({
      failureBackoffBaseMs: 1000,
      failureBackoffJitterMs: 0,
    })
    expect(load({ ...env, UNSTUCK_PROFILE: 'clip' }).policy).toEqual({ maxAttempts: 7 })
  })

  it('LEASE-3 takes DEFAULT_LEASE_SEC, else QUEUE_VISIBILITY_SEC, else 60 s, and 300 s in clip', () => {
    expect(load({ DEFAULT_LEASE_SEC: '120', QUEUE_VISIBILITY_SEC: '90' }).policy.defaultLeaseMs).toBe(120_000)
    expect(load({ QUEUE_VISIBILITY_SEC: '90' }).policy.defaultLeaseMs).toBe(90_000)
    expect(valueOf(load({}), 'policy.defaultLeaseMs')).toEqual([60_000, 'profile'])
    expect(valueOf(load({ UNSTUCK_PROFILE: 'clip' }), 'policy.defaultLeaseMs')).toEqual([300_000, 'profile'])
  })

  it('LEASE-3 changes the factor of one stage and leaves the others', () => {
    const { policy } = load({ ASR_SLA_FACTOR: '2.5', UNSTUCK_PROFILE: 'clip' })
    expect(policy).toEqual({ stageFactors: { asr: 2.5 } })
    expect(withOverride(shippedPolicy('clip'), policy).stageFactors).toEqual({ clip: 6, asr: 2.5, burnin: 8 })
  })

  it('REAP-6 takes the interval of the option over REAPER_INTERVAL_SEC', () => {
    expect(load({ REAPER_INTERVAL_SEC: '30' }).sweepIntervalMs).toBe(30_000)
    expect(load({ REAPER_INTERVAL_SEC: '30' }, { flags: { intervalSec: '5' } }).policy.sweepIntervalMs).toBe(
      5000,
    )
  })

  it('LEASE-4 warns about fewer than three heartbeats in a lease and refuses fewer than two', () => {
    expect(load({ HEARTBEAT_SEC: '20' }).warnings).toEqual([])
    expect(load({ HEARTBEAT_SEC: '21' }).warnings).toEqual([
      'HEARTBEAT_SEC: 21 s leaves fewer than 3 heartbeats in a lease of 60 s (the profile), so one lost heartbeat may lose a job; at most 20 s is recommended',
    ])
    expect(load({ HEARTBEAT_SEC: '30' }).warnings).toHaveLength(1)
    expect(refuse({ HEARTBEAT_SEC: '31' })).toEqual([
      {
        name: 'HEARTBEAT_SEC',
        got: '"31"',
        takes: 'at most 30 s, so that two heartbeats fit into a lease of 60 s (the profile)',
      },
    ])
  })

  it('LEASE-4 OPS-13 leaves the own values of document 002, set explicitly, to the warning of the worker', () => {
    const given = { UNSTUCK_PROFILE: 'embedding', HEARTBEAT_SEC: '120', EMBED_JOB_RETENTION_DAYS: '14' }
    expect(load(given).warnings).toEqual([])
    expect(load({ ...given, HEARTBEAT_SEC: '119' }).warnings).toHaveLength(1)
  })

  it('LEASE-4 blames the lease where only the lease was set', () => {
    expect(refuse({ DEFAULT_LEASE_SEC: '29' })).toEqual([
      { name: 'DEFAULT_LEASE_SEC', got: '"29"', takes: 'at least 30 s, two heartbeats of 15 s' },
    ])
    expect(load({ DEFAULT_LEASE_SEC: '30' }).warnings).toHaveLength(1)
  })

  it('LEASE-4 judges the shortest lease of any stage', () => {
    const file = { policy: { stageLeasesMs: { thumb: 20_000 } } }
    expect(refuse({}, { file })[0]?.name).toBe('policy.stageLeasesMs.thumb in the config file')
  })
})

describe('backoff', () => {
  it('REAP-5 turns the steps into a doubling wait where QUEUE_ sets base and cap', () => {
    const env = {
      QUEUE_RETRY_BACKOFF_MS_BASE: '1000',
      QUEUE_RETRY_BACKOFF_MS_MAX: '8000',
      UNSTUCK_PROFILE: 'clip',
    }
    expect(load(env).policy).toEqual({
      reapBackoffStepsMs: [],
      reapBackoffBaseMs: 1000,
      reapBackoffMaxMs: 8000,
      failureBackoffStepsMs: [],
      failureBackoffBaseMs: 1000,
      failureBackoffMaxMs: 8000,
    })
    const overridden = load({ ...env, JOB_RETRY_BACKOFF_MS_BASE: '2000' }).policy
    expect([overridden.reapBackoffBaseMs, overridden.failureBackoffBaseMs]).toEqual([2000, 2000])
  })

  it('REAP-5 fills in the side that is not set from the steps, and lets it give way', () => {
    const clip = { UNSTUCK_PROFILE: 'clip' }
    expect(load({ ...clip, JOB_RETRY_BACKOFF_MS_BASE: '1000' }).policy).toMatchObject({
      reapBackoffMaxMs: 600_000,
      failureBackoffMaxMs: 600_000,
    })
    expect(load({ ...clip, JOB_RETRY_BACKOFF_MS_BASE: '900000' }).policy.reapBackoffMaxMs).toBe(900_000)
    expect(load({ ...clip, JOB_RETRY_BACKOFF_MS_MAX: '10000' }).policy).toMatchObject({
      reapBackoffBaseMs: 10_000,
      failureBackoffBaseMs: 10_000,
    })
  })

  it('REAP-5 leaves the wait after a reap alone where only failures are tuned', () => {
    expect(load({ RETRY_BASE_DELAY_MS: '250' }).policy).toEqual({
      failureBackoffStepsMs: [],
      failureBackoffBaseMs: 250,
      failureBackoffMaxMs: nativePolicy.failureBackoffMaxMs,
    })
  })

  it('REAP-5 refuses a base above the cap', () => {
    const env = { QUEUE_RETRY_BACKOFF_MS_BASE: '9000', JOB_RETRY_BACKOFF_MS_MAX: '8000' }
    expect(refuse(env)).toEqual([
      {
        name: 'QUEUE_RETRY_BACKOFF_MS_BASE',
        got: '"9000"',
        takes: 'at most 8000, the value of JOB_RETRY_BACKOFF_MS_MAX',
      },
    ])
  })

  it('REAP-5 keeps the steps of a config file unless a variable replaces them', () => {
    const file = { policy: { reapBackoffStepsMs: [1000, 2000], reapBackoffMaxMs: 2000 } }
    const kept = load({}, { file })
    expect(kept.policy).toEqual(file.policy)
    expect(valueOf(kept, 'policy.reapBackoffStepsMs')).toEqual(['[1000,2000]', 'file'])
    const replaced = load({ JOB_RETRY_BACKOFF_MS_BASE: '500' }, { file })
    expect(replaced.policy).toMatchObject({
      reapBackoffStepsMs: [],
      reapBackoffBaseMs: 500,
      reapBackoffMaxMs: 2000,
    })
    expect(valueOf(replaced, 'policy.reapBackoffStepsMs')).toBeUndefined()
  })
})

describe('worker, gateway and breaker', () => {
  it('WORK-3 takes concurrency and the time limit of outside calls', () => {
    const config = load({
      WORKER_CONCURRENCY: '4',
      GATEWAY_TIMEOUT_MS: '2500',
      GATEWAY_URL: 'https://u:hunter2@gw/',
    })
    expect(config).toMatchObject({
      workerConcurrency: 4,
      gateway: { timeoutMs: 2500, url: 'https://u:hunter2@gw/' },
    })
    expect(JSON.stringify(config.values)).not.toContain('hunter2')
    expect(load({ WORKER_CONCURRENCY: '4' }, { flags: { concurrency: '8' } }).workerConcurrency).toBe(8)
    expect(load({ UNSTUCK_PROFILE: 'clip' }).workerConcurrency).toBe(1)
  })

  it('BREAK-1 takes window, threshold and cooldown', () => {
    const env = {
      CIRCUIT_WINDOW: '50',
      UNSTUCK_CIRCUIT_WINDOW_MS: '60000',
      CIRCUIT_FAIL_THRESHOLD: '25%',
      CIRCUIT_COOLDOWN_MS: '0',
    }
    const expected = { window: 50, windowMs: 60_000, failThreshold: 0.25, cooldownMs: 0 }
    expect(load(env).circuit).toEqual(expected)
    expect(() => load({ UNSTUCK_CIRCUIT_WINDOW_MS: '0' })).toThrow('UNSTUCK_CIRCUIT_WINDOW_MS')
  })
})

describe('retention', () => {
  it('OPS-2 refuses a retention outside 7 to 30 days and proposes 14', () => {
    expect(load({ EMBED_JOB_RETENTION_DAYS: '7' }).policy.retentionDays).toBe(7)
    for (const days of ['6', '31', '']) {
      expect(refuse({ EMBED_JOB_RETENTION_DAYS: days })).toEqual([
        {
          name: 'EMBED_JOB_RETENTION_DAYS',
          got: JSON.stringify(days),
          takes: 'a whole number of days from 7 to 30; 14 is recommended',
        },
      ])
    }
  })

  it('OPS-2 demands a retention in the embedding profile only', () => {
    expect(() => load({ UNSTUCK_PROFILE: 'embedding' })).toThrow(
      /EMBED_JOB_RETENTION_DAYS.*14 is recommended/,
    )
    const file = { profile: 'embedding', policy: { retentionDays: 7 } } as const
    expect(load({}, { file }).policy.retentionDays).toBe(7)
    expect(findMissing('embedding', new Map())).toEqual([
      {
        name: 'EMBED_JOB_RETENTION_DAYS',
        got: null,
        takes: 'a value, required by the profile embedding; 14 is recommended',
      },
    ])
    expect(findMissing('embedding', new Map([['policy.retentionDays', 14]]))).toEqual([])
    expect(findMissing('clip', new Map())).toEqual([])
  })
})
