// Whatever stands in the environment or in the config file: a configuration that the program can run with, or one error that
// names what is wrong.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../../../test/support/vitest/property-runs.ts'
import { isUnstuckError } from '../../errors/index.ts'
import { nativePolicy } from '../../policy/policy.ts'
import type { Config, ConfigSources } from '../config.ts'
import type { ConfigProblem } from '../config-problem.ts'
import { MAX_TIMER_MS } from '../variables/value-kind.ts'
import { variables } from '../variables/variables.ts'
import { loadConfig } from './load-config.ts'

const hostileTexts = [
  '0',
  '-0',
  '-1',
  '1.5',
  'NaN',
  'Infinity',
  '1e3',
  '0x10',
  '2147483648',
  '9007199254740993',
  '9'.repeat(400),
  '',
  ' ',
  '\0',
  '\n',
  '1 ',
  ' 1',
  '１',
  '1_000',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '__proto__',
  `a"b`,
  `a'b`,
  `a; drop schema unstuck; --`,
  'select',
  'pg_catalog',
  'x'.repeat(63),
  'x'.repeat(64),
  '😀',
  'é'.repeat(32),
  '../../etc/passwd',
  'http://',
  'postgres://',
  'postgres://%00',
  'javascript:alert(1)',
]

/** The configuration, or the problems that it was refused for. Anything else that is thrown is a fault. */
function load(sources: ConfigSources): Config | ConfigProblem[] {
  try {
    return loadConfig(sources)
  } catch (error) {
    if (isUnstuckError(error, 'INVALID_CONFIG')) return error.details['problems'] as ConfigProblem[]
    throw error
  }
}

/** A longer timer would fire at once, a negative one too, and NaN never compares. */
function expectUsable(config: Config, from: unknown): void {
  const wrong = numbersIn(config).filter(([path, number]) => {
    const isTimer = /(heartbeat|sweepInterval|timeout)Ms$/i.test(path)
    return !(number >= 0 && number <= (isTimer ? MAX_TIMER_MS : Number.MAX_VALUE))
  })
  // The source stands in the comparison, so that a failure tells which one it was.
  expect({ from, wrong }).toEqual({ from, wrong: [] })
  expect(config.schema).toSatisfy((name: string) => name !== '' && Buffer.byteLength(name) <= 63)
  expect(config.schema).not.toContain('\0')
}

function numbersIn(value: unknown, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => numbersIn(part, `${path}.${name}`))
}

describe('a hostile environment', () => {
  it.each(variables.map(({ name }) => name))('OPS-8 %s is usable or refused by its name', (name) => {
    for (const text of hostileTexts) {
      const loaded = load({ env: { [name]: text } })
      if (Array.isArray(loaded)) expect(loaded.map((problem) => problem.name).join()).toContain(name)
      else expectUsable(loaded, { [name]: text })
    }
  })
})

describe('a hostile config file', () => {
  const hostile = fc.oneof(
    fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withTypedArray: true }),
    fc.double(),
    fc.constantFrom<unknown>(...hostileTexts, 0, -1, Number.NaN, 2 ** 31, 2 ** 53, null),
  )
  const policy = fc.dictionary(
    fc.oneof(fc.constantFrom(...Object.keys(nativePolicy)), fc.string()),
    fc.oneof(hostile, fc.dictionary(fc.string(), hostile)),
    { maxKeys: 4 },
  )
  const fields = [
    'databaseUrl',
    'migrateUrl',
    'directUrl',
    'schema',
    'profile',
    'preset',
    'workerConcurrency',
    'appVersion',
    'maxPayloadBytes',
    'webhookAllowPrivate',
    'gateway',
    'circuit',
    'http',
    'somethingElse',
  ]
  const file = fc.record({
    policy: fc.oneof(
      { arbitrary: policy, weight: 3 },
      { arbitrary: hostile as fc.Arbitrary<never>, weight: 1 },
    ),
    others: fc.dictionary(fc.constantFrom(...fields), hostile, { maxKeys: 2 }),
  })

  it('OPS-8 is usable or refused as a configuration, and never breaks anything else', () => {
    fc.assert(
      fc.property(file, ({ policy: given, others }) => {
        const loaded = load({ env: {}, file: { ...others, policy: given } })
        if (Array.isArray(loaded)) expect(loaded.length).toBeGreaterThan(0)
        else expectUsable(loaded, null)
      }),
      propertyRuns(),
    )
  })
})
