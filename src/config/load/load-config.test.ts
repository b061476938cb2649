import { describe, expect, it } from 'vitest'
import { type Env, load, refuse, valueOf } from '../../../test/support/load-env.ts'
import { shippedProfileNames } from '../../profile/shipped.ts'

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
