import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUnstuckError } from '../../errors/index.ts'
import { nativePolicy, withOverride } from '../../policy/policy.ts'
import { shippedPolicy, shippedProfileNames } from '../../profile/shipped.ts'
import type { Config, ConfigFile, ConfigSources } from '../config.ts'
import type { ConfigProblem } from '../config-problem.ts'
import { variables } from '../variables/variables.ts'
import { findMissing, loadConfig } from './load-config.ts'

type Env = Record<string, string>

function load(env: Env, others: Omit<ConfigSources, 'env'> = {}): Config {
  return loadConfig({ env, ...others })
}

/** The problems of a configuration that must be refused. */
function refuse(env: Env, others: Omit<ConfigSources, 'env'> = {}): ConfigProblem[] {
  try {
    load(env, others)
  } catch (error) {
    if (isUnstuckError(error, 'INVALID_CONFIG')) return error.details['problems'] as ConfigProblem[]
    throw error
  }
  return expect.unreachable('was not refused')
}

function valueOf(config: Config, name: string) {
  const found = config.values.find((value) => value.name === name)
  return found && [found.value, found.source]
}

describe('loadConfig with nothing set', () => {
  it('OPS-8 answers the defaults of the native profile and overrides nothing', () => {
    expect(load({})).toMatchObject({
      databaseUrl: null,
      migrateUrl: null,
      directUrl: null,
      schema: 'unstuck',
      profile: 'native',
      policy: {},
      enqueueMaxAttempts: null,
      heartbeatMs: 15_000,
      sweepIntervalMs: 10_000,
      workerConcurrency: 10,
      gateway: { url: null, timeoutMs: 60_000, uploadsDir: null, resultsDir: null },
      circuit: { window: 20, windowMs: null, failThreshold: 0.5, cooldownMs: 30_000 },
      warnings: [],
    })
  })

  it('OPS-8 names for each value its source and requirement', () => {
    const { values } = load({ HEARTBEAT_SEC: '10', UNSTUCK_PROFILE: 'clip' }, { flags: { schema: 'jobs' } })
    expect(values).toContainEqual({ name: 'schema', value: 'jobs', source: 'flag', requirement: 'OPS-8' })
    expect(values).toContainEqual({
      name: 'policy.heartbeatMs',
      value: 10_000,
      source: 'env HEARTBEAT_SEC',
      requirement: 'LEASE-4',
    })
    expect(values).toContainEqual({
      name: 'policy.stageFactors.asr',
      value: 12,
      source: 'profile',
      requirement: 'LEASE-3',
    })
    expect(values).toContainEqual({
      name: 'policy.reapBackoffStepsMs',
      value: '[30000,120000,600000]',
      source: 'profile',
      requirement: 'REAP-5',
    })
    expect(new Set(values.map(({ name }) => name)).size).toBe(values.length)
  })
})

describe('the connection', () => {
  const flag = 'postgres://flag/db'
  const ours = 'postgres://ours/db'
  const theirs = 'postgres://theirs/db'
  const inFile = 'postgres://file/db'

  it('OPS-8 comes from the option, our variable, DATABASE_URL, PG*, the config file, in this order', () => {
    const env: Env = { UNSTUCK_DATABASE_URL: ours, DATABASE_URL: theirs, PGHOST: 'pg' }
    const file = { databaseUrl: inFile }
    expect(load(env, { flags: { databaseUrl: flag }, file }).databaseUrl).toBe(flag)
    expect(load(env, { file }).databaseUrl).toBe(ours)
    delete env['UNSTUCK_DATABASE_URL']
    expect(load(env, { file }).databaseUrl).toBe(theirs)
    delete env['DATABASE_URL']
    expect(load(env, { file }).databaseUrl).toBe('postgresql://pg:5432/')
    expect(load({}, { file }).databaseUrl).toBe(inFile)
  })

  it('OPS-8 does not judge a DATABASE_URL that UNSTUCK_DATABASE_URL shadows', () => {
    const env = { UNSTUCK_DATABASE_URL: ours, DATABASE_URL: 'mysql://root:pw@h/app' }
    expect(load(env).databaseUrl).toBe(ours)
  })

  it('OPS-8 uses the same URL for migrations unless UNSTUCK_MIGRATE_URL is set', () => {
    expect(load({ DATABASE_URL: theirs }).migrateUrl).toBe(theirs)
    const config = load({ DATABASE_URL: theirs, UNSTUCK_MIGRATE_URL: ours })
    expect([config.databaseUrl, config.migrateUrl]).toEqual([theirs, ours])
  })

  it('OPS-8 takes the option for the database for migrations too, and reports a bad one once', () => {
    const config = load({ UNSTUCK_MIGRATE_URL: ours }, { flags: { databaseUrl: theirs } })
    expect(config.migrateUrl).toBe(theirs)
    const problems = refuse({}, { flags: { databaseUrl: 'mysql://h/db' } })
    expect(problems.map(({ name }) => name)).toEqual(['--database-url'])
  })

  it('WORK-1 lets UNSTUCK_NOTIFY switch hints of new work off, over what the file says', () => {
    expect(load({ UNSTUCK_NOTIFY: 'off' }).policy).toEqual({ notify: 'off' })
    expect(load({ UNSTUCK_NOTIFY: 'on' }, { file: { policy: { notify: 'off' } } }).policy.notify).toBe('on')
    expect(load({}).policy).toEqual({})
    expect(refuse({ UNSTUCK_NOTIFY: 'no' }).map(({ name, takes }) => [name, takes])).toEqual([
      ['UNSTUCK_NOTIFY', 'on or off'],
    ])
  })

  it('OPS-8 joins the variables of libpq, where an empty one counts as not set', () => {
    const full = {
      PGHOST: 'db',
      PGPORT: '6432',
      PGUSER: 'a@b',
      PGPASSWORD: 'p/w',
      PGDATABASE: 'j b',
      PGSSLMODE: 'require',
    }
    expect(load(full).databaseUrl).toBe('postgresql://a%40b:p%2Fw@db:6432/j%20b?sslmode=require')
    expect(load({ PGHOST: '/run/pg', PGDATABASE: 'jobs' }).databaseUrl).toBe(
      'postgresql://localhost:5432/jobs?host=%2Frun%2Fpg',
    )
    expect(load({ PGHOST: '', PGPASSWORD: 'x', PGSSLMODE: 'require' }).databaseUrl).toBeNull()
  })

  it('OPS-8 names the variable of libpq that is wrong, and never its password', () => {
    const env = { PGHOST: 'db', PGPORT: '0', PGSSLMODE: 'maybe', PGPASSWORD: 'se\0cret' }
    const problems = refuse(env)
    expect(problems.map(({ name }) => name).toSorted()).toEqual(['PGPASSWORD', 'PGPORT', 'PGSSLMODE'])
    expect(JSON.stringify(problems)).not.toContain('cret')
  })

  it('OPS-8 warns that service files are not read where they would be the only connection', () => {
    expect(load({ PGSERVICE: 'jobs' }).warnings).toEqual([expect.stringContaining('PGSERVICE')])
    expect(load({ PGSERVICE: 'jobs', DATABASE_URL: theirs }).warnings).toEqual([])
  })

  it('OPS-8 shows a URL without its password', () => {
    const config = load({
      DATABASE_URL: 'postgres://u:hunter2@h:5433/db?sslmode=require&sslpassword=hunter2',
    })
    expect(valueOf(config, 'databaseUrl')).toEqual([
      'postgres://u:***@h:5433/db?sslmode=require&sslpassword=***',
      'env DATABASE_URL',
    ])
    expect(JSON.stringify(config.values)).not.toContain('hunter2')
  })

  it.each([
    'mysql://u:hunter2@h/db',
    'u:hunter2@h/db',
    'postgres:u:hunter2@h',
    'postgres://u:hunter2#@h/db',
    'postgres://u:hunter2/@h/db',
    'hunter2://h/%ff',
  ])('OPS-8 refuses %s without showing the password', (url) => {
    const problems = refuse({ DATABASE_URL: url, UNSTUCK_MIGRATE_URL: 'http://u:hunter2@h' })
    expect(problems.map(({ name }) => name)).toEqual(['DATABASE_URL', 'UNSTUCK_MIGRATE_URL'])
    expect(JSON.stringify(problems)).not.toMatch(url.startsWith('hunter2') ? /%ff/ : /hunter2/)
  })

  it('OPS-8 masks the whole URL where a stray delimiter hides the end of the password', () => {
    const config = load({ DATABASE_URL: 'postgres://u:1/hunter2@h/db' })
    expect(valueOf(config, 'databaseUrl')).toEqual(['***', 'env DATABASE_URL'])
  })
})

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

describe('problems', () => {
  it('OPS-8 are all reported at once, each with the name, what it got and what it takes', () => {
    const env = {
      HEARTBEAT_SEC: '15s',
      JOB_MAX_ATTEMPTS: '0',
      UNSTUCK_SCHEMA: 'pg_jobs',
      UNSTUCK_PROFILE: 'emedding',
    }
    const known = new Intl.ListFormat('en', { type: 'disjunction' }).format(shippedProfileNames)
    expect(() => load(env, { flags: { concurrency: 'all' } })).toThrow(
      [
        '5 problems in the configuration:',
        `  UNSTUCK_PROFILE: got "emedding", takes ${known}`,
        '  UNSTUCK_SCHEMA: got "pg_jobs", takes a schema name of 1 to 63 bytes that does not start with pg_',
        '  HEARTBEAT_SEC: got "15s", takes a whole number of seconds from 1 to 86400',
        '  JOB_MAX_ATTEMPTS: got "0", takes a whole number of attempts from 1 to 1000',
        '  --concurrency: got "all", takes a whole number of jobs from 1 to 1000',
      ].join('\n'),
    )
  })

  it('OPS-8 refuses a near miss of our own names and tells which name was meant', () => {
    for (const [typo, meant] of [
      ['UNSTUCK_DATABSE_URL', 'UNSTUCK_DATABASE_URL'],
      ['unstuck_schema', 'UNSTUCK_SCHEMA'],
      ['REAPER_INTERVAL', 'REAPER_INTERVAL_SEC'],
      ['REAPER_INTERVAL_MS', 'REAPER_INTERVAL_SEC'],
    ] as const) {
      expect(refuse({ [typo]: '60' })).toEqual([
        { name: typo, got: 'an unknown name', takes: `nothing: did you mean ${meant}?` },
      ])
    }
  })

  it('OPS-8 warns about a near miss of other names, unless the right one is set as well', () => {
    expect(load({ HEARTBEAT_SECS: '10' }).warnings).toEqual([
      'HEARTBEAT_SECS: is set, but there is no such variable; did you mean HEARTBEAT_SEC?',
    ])
    expect(load({ HEARTBEAT_SECS: '10', HEARTBEAT_SEC: '10' }).warnings).toEqual([])
  })

  it('OPS-8 is silent about the variables of others', () => {
    const others = `PATH HOME CI PGHOSTADDR PGAPPNAME NODE_ENV UPLOAD_DIR WEB_CONCURRENCY GATEWAY_PORT REDIS_URL TEST_DATABASE_URL
      UNSTUCK_SERVICE_HOST UNSTUCK_PORT_5432_TCP_ADDR REAPER_SERVICE_PORT_HTTP REAPER_PORT REAPER_COLOR`
    const env = Object.fromEntries(others.split(/\s+/).map((name) => [name, 'x']))
    expect(load(env).warnings).toEqual([])
    expect(load({ UNSTUCK_LOG_COLOR: 'x' }).warnings).toEqual([
      'UNSTUCK_LOG_COLOR: is set, but there is no such variable',
    ])
  })

  it('OPS-8 warns about a variable that has no effect in the profile, and does not judge its value', () => {
    expect(load({ WORKER_LEASE_TTL_SEC: 'x', UPLOADS_DIR: '/tmp' }).warnings).toEqual([
      'WORKER_LEASE_TTL_SEC: is set, but has no effect in the profile native',
    ])
  })
})

describe('the config file', () => {
  it('OPS-8 sets what no variable sets, field by field', () => {
    const file: ConfigFile = {
      schema: 'from_file',
      profile: 'clip',
      policy: { heartbeatMs: 5000, maxCrashes: 9, stageFactors: { asr: 3, render: 2 }, maxAttempts: 4 },
      gateway: { timeoutMs: 100 },
      circuit: { failThreshold: 0.1 },
      workerConcurrency: 2,
      databaseUrl: undefined,
    }
    const config = load({ HEARTBEAT_SEC: '10', ASR_SLA_FACTOR: '4' }, { file })
    expect(config).toMatchObject({
      schema: 'from_file',
      profile: 'clip',
      workerConcurrency: 2,
      databaseUrl: null,
    })
    expect(config.policy).toEqual({
      heartbeatMs: 10_000,
      maxCrashes: 9,
      stageFactors: { asr: 4, render: 2 },
      maxAttempts: 4,
    })
    expect(config.enqueueMaxAttempts).toBe(4)
    expect(valueOf(config, 'policy.heartbeatMs')).toEqual([10_000, 'env HEARTBEAT_SEC'])
    expect(valueOf(config, 'policy.maxCrashes')).toEqual([9, 'file'])
    // The clip profile knows no circuit; one file may serve several profiles.
    expect(config.gateway.timeoutMs).toBe(100)
    expect(config.circuit.failThreshold).not.toBe(0.1)
    expect(load({ UNSTUCK_PROFILE: 'native' }, { file })).toMatchObject({
      gateway: { timeoutMs: 100 },
      circuit: { failThreshold: 0.1 },
    })
    expect(file.policy?.stageFactors).toEqual({ asr: 3, render: 2 })
  })

  it('OPS-8 is held to the same rules, with its fields named', () => {
    const file = {
      databaseUrl: { password: 'hunter2' },
      shema: 'x',
      gateway: { timeout: 5 },
      circuit: 7,
      workerConcurrency: 1.5,
      policy: {
        heartbeatMs: 0,
        retentionDays: 3,
        reapBackoffStepsMs: [1, -1],
        events: 'some',
        leaseMs: 5,
        legacyAgeRule: 1,
      },
    } as unknown as ConfigFile
    const problems = refuse({}, { file })
    expect(problems.map(({ name }) => name.replace(' in the config file', '')).toSorted()).toEqual([
      'circuit',
      'databaseUrl',
      'gateway.timeout',
      'policy.events',
      'policy.heartbeatMs',
      'policy.leaseMs',
      'policy.legacyAgeRule',
      'policy.reapBackoffStepsMs',
      'policy.retentionDays',
      'shema',
      'workerConcurrency',
    ])
    expect(problems.find(({ name }) => name.startsWith('shema'))?.takes).toBe(
      'no such field: did you mean schema?',
    )
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  it.each([[null], [7], ['clip'], [[]], [{ policy: [] }]])('OPS-8 refuses %j', (file) => {
    expect(refuse({}, { file: file as unknown as ConfigFile })).toHaveLength(1)
  })
})

describe('any value', () => {
  const numeric = fc.oneof(
    fc.integer().map(String),
    fc.double().map(String),
    fc.nat().map((n) => `${n}s`),
  )
  const url = fc
    .tuple(fc.constantFrom('postgres://', 'https://', 'mysql://'), fc.string())
    .map((parts) => parts.join(''))
  const text = fc.oneof(
    numeric,
    url,
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'clip', 'native', '50%', '0.5'),
  )
  const names = variables.map(({ name }) => name)
  const name = fc.constantFrom(...names)
  const profiles = fc.constantFrom('native', 'clip')

  it('OPS-8 yields a configuration without NaN, or problems that name the variable', () => {
    fc.assert(
      fc.property(name, text, profiles, (variable, value, profile) => {
        checkLoad({ UNSTUCK_PROFILE: profile, [variable]: value }, [variable])
      }),
      { numRuns: 2000 },
    )
  })

  it('OPS-8 holds for any values of all variables together', () => {
    fc.assert(
      fc.property(fc.dictionary(name, text, { noNullPrototype: true }), (env) =>
        checkLoad(env, Object.keys(env)),
      ),
      { numRuns: 500 },
    )
  })

  it('OPS-8 never shows the password of a URL, however it is written', () => {
    const junk = fc.string({ unit: fc.constantFrom(...Array.from('a1:/?#@[]%\\ \t&=;é')), maxLength: 4 })
    const scheme = fc.constantFrom('postgres://', 'postgresql://', 'https://', 'mysql://', 'postgres:', '')
    const urls = fc.tuple(
      scheme,
      junk,
      fc.constant(':'),
      junk,
      fc.constant('SECRET'),
      junk,
      fc.constant('@h/db'),
    )
    fc.assert(
      fc.property(urls, fc.constantFrom('DATABASE_URL', 'GATEWAY_URL'), (parts, variable) => {
        const shown: unknown[] = []
        try {
          const { values, warnings } = load({ [variable]: parts.join('') })
          shown.push(values, warnings)
        } catch (error) {
          if (!isUnstuckError(error, 'INVALID_CONFIG')) throw error
          shown.push(error.message, error.details, error.cause)
        }
        expect(JSON.stringify(shown)).not.toContain('SECRET')
      }),
      { numRuns: 5000 },
    )
  })

  function checkLoad(env: Env, blamable: string[]): void {
    try {
      const config = load(env)
      const numbers = [
        config.heartbeatMs,
        config.sweepIntervalMs,
        config.workerConcurrency,
        config.gateway.timeoutMs,
      ]
      const { windowMs, ...circuit } = config.circuit
      for (const number of [...numbers, ...Object.values(circuit), windowMs ?? 0])
        expect(number).toBeTypeOf('number')
      // JSON writes NaN and Infinity as null, so a copy through it differs where there is one.
      expect(JSON.parse(JSON.stringify(config))).toEqual(config)
    } catch (error) {
      if (!isUnstuckError(error, 'INVALID_CONFIG')) throw error
      const problems = error.details['problems'] as ConfigProblem[]
      expect(problems.length).toBeGreaterThan(0)
      for (const problem of problems) expect(blamable).toContain(problem.name)
    }
  }
})
