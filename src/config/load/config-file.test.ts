import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Env, load, refuse, valueOf } from '../../../test/support/load-env.ts'
import { isUnstuckError } from '../../errors/index.ts'
import type { ConfigFile } from '../config.ts'
import type { ConfigProblem } from '../config-problem.ts'
import { variables } from '../variables/variables.ts'

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

describe('completed jobs', () => {
  it('LEASE-12 need not be kept in the native table, by policy and by type', () => {
    const policy = { keepCompleted: false, typeKeepCompleted: { invoice: true } }
    expect(load({}, { file: { policy } }).policy).toEqual(policy)
  })

  it.each([{ keepCompleted: false }, { typeKeepCompleted: { asr: false } }])(
    'LEASE-12 are kept in attached tables: %o is refused with the profile',
    (policy) => {
      const problems = refuse({}, { file: { profile: 'clip', policy } })
      expect(problems).toHaveLength(1)
      expect(problems[0]?.name).toContain(`policy.${Object.keys(policy)[0]}`)
      expect(JSON.stringify(problems)).toContain('clip')
    },
  )
})
