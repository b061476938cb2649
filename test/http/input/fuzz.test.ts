// Every route of the document with hostile input: whatever is sent, the answer is within the contract, is nobody's fault but the
// caller's, and tells nothing of the inside or of others. The routes are read from the document, so that a new one is fuzzed too.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentInfo } from '../../../src/http/app.ts'
import { describeApi } from '../../../src/http/openapi/http-reference.ts'
import { enqueue, type HttpBench, kill, openHttpBench } from '../http-bench.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  minItems?: number
  minimum?: number
  maximum?: number
  format?: string
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

interface Route extends Operation {
  method: string
  path: string
}

const document = describeApi() as unknown as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const routes: Route[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
)

/** Internals that no caller may see: SQLSTATEs, stack lines, server paths, names of database objects. */
const INSIDE =
  /\bSQLSTATE\b|\b(?:22P02|22003|22021|23505|42P01|42703|42883|57014|25006)\b|node_modules|\bat [\w.<>]+ \(|\.(?:ts|js|sql):\d+|\/(?:src|dist|home|usr)\/|PL\/pgSQL|syntax error at|relation "|column "|pg_catalog|unstuck\.\w+\(/

const OF_ANOTHER = 'secret-of-bob'

let bench: HttpBench
const ids: string[] = []
const foreignIds: string[] = []
const tokens: Record<string, string> = {}

beforeAll(async () => {
  bench = await openHttpBench({ maxBodyBytes: 100_000 })
  const { store } = bench
  for (let n = 0; n < 20; n++) {
    ids.push(await enqueue(store, { type: 'there', owner: 'ana' }))
    ids.push(await kill(store, { type: 'there', owner: 'ana' }))
    foreignIds.push(await enqueue(store, { type: OF_ANOTHER, owner: 'bob', payload: { text: OF_ANOTHER } }))
    foreignIds.push(await kill(store, { type: OF_ANOTHER, owner: 'bob' }, { reason: OF_ANOTHER }))
  }
  await store.pauseQueue('there', { actor: 'ops', reason: 'a pause' })
  await store.mapDependency('there', 'gateway')
  tokens['admin'] = await bench.token({ role: 'admin' })
  tokens['owner'] = await bench.token({ role: 'admin', owner: 'ana' })
})

afterAll(() => bench.close())

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '.',
    '..',
    '%',
    '%00',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\u202e\u200b',
    '🦄'.repeat(30),
    "'; drop table unstuck.jobs; --",
    '"',
    '\\',
    '${jndi:ldap://x}',
    '../../etc/passwd',
    '..%2f..%2f',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'NaN',
    'true',
    '-1',
    '0',
    '1e400',
    '9'.repeat(40),
    '2147483648',
    '9223372036854775808',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '{',
    '{}',
    '[]',
    'jobs',
    'there',
    'gateway',
    'x'.repeat(63),
    'x'.repeat(201),
    'x'.repeat(5_000),
    '2026-02-30T00:00:00Z',
    '+275760-09-13T00:00:00.001Z',
    '0001-01-01T00:00:00Z',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.uuid(),
)

const hostileNumber = fc.constantFrom(
  0,
  -0,
  -1,
  1,
  0.5,
  1e-9,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  1e21,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER,
)

/** So deep that a recursive reader of it would fail. */
const deep = fc
  .integer({ min: 1, max: 4_000 })
  .map((depth) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown)

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], { $ref: '#' }, { __proto__: null }),
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
  { arbitrary: deep, weight: 1 },
)

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components.schemas[name] ?? {})
}

/** Values that match the schema: all required fields, some of the rest. */
function fittingOf(given: Schema, depth = 0): fc.Arbitrary<unknown> {
  const schema = resolve(given)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (either !== undefined) return fc.oneof(...either.map((one) => fittingOf(one, depth + 1)))
  const [type] = [schema.type ?? 'any'].flat()
  switch (type) {
    case 'string':
      return fittingText(schema)
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.ceil(schema.minimum ?? 0),
        max: Math.max(Math.ceil(schema.minimum ?? 0), 100),
      })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(fittingOf(schema.items ?? {}, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: 3,
      })
    case 'object':
      return fittingObject(schema, depth)
    default:
      return fc.constantFrom(null, 1, 'text', { a: [1] })
  }
}

function fittingText({ format, pattern }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.constantFrom('2030-01-01T00:00:00Z', '2026-05-12T14:02:11.250Z')
  if (format === 'uri') return fc.constant('https://hooks.example/in')
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.oneof(fc.constantFrom('there', 'gateway', 'host:1'), idText())
}

function fittingObject({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(
    ([name, one]) => [name, name === 'table' ? fc.constant('jobs') : fittingOf(one, depth + 1)] as const,
  )
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[] })
}

/** One place of it, wherever, becomes something else; every second time nothing does. */
function bodyOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc
    .tuple(fittingOf(schema), fc.nat(), hostileValue, fc.boolean())
    .map(([body, place, hostile, isHostile]) => (isHostile ? replacedAt(body, place, hostile) : body))
}

function replacedAt(body: unknown, place: number, value: unknown): unknown {
  const text = JSON.stringify(body)
  let places = 0
  const count = (_: string, each: unknown) => {
    places += 1
    return each
  }
  JSON.parse(text, count)
  let index = 0
  const replace = (_: string, each: unknown) => {
    index += 1
    return index - 1 === place % places ? value : each
  }
  return JSON.parse(text, replace) as unknown
}

const idText = () => fc.nat().map((n) => [...ids, ...foreignIds][n % (ids.length + foreignIds.length)] ?? '')

interface Sent {
  path: string
  query: [string, string][]
  headers: [string, string][]
  body: string | undefined
}

const oddHeaders = fc.array(
  fc.tuple(
    fc.constantFrom(
      'if-match',
      'idempotency-key',
      'last-event-id',
      'content-type',
      'accept',
      'cookie',
      'origin',
      'sec-fetch-site',
      'x-unstuck',
      'x-forwarded-user',
      'x-forwarded-for',
      'content-length',
      'range',
    ),
    fc.oneof(
      fc.stringMatching(/^[\x21-\x7e]{0,60}$/),
      fc.constantFrom('"1"', '*', 'W/"1"', '999999999999', 'application/json', 'text/plain', 'null', '1~2~3'),
    ),
  ),
  { maxLength: 1 },
)

function sentTo({ path, parameters = [], requestBody }: Route): fc.Arbitrary<Sent> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const name = fc.oneof(idText(), fc.constantFrom('there', 'gateway'), hostileText)
  const parts = fc.tuple(...names.map(() => name))
  const filled = parts.map((values) =>
    names.reduce((text, name, index) => text.replace(`{${name}}`, escape(values[index] ?? '')), path),
  )
  const asked = parameters.filter((parameter) => parameter.in === 'query')
  const known = asked.map(({ name, schema = {} }) =>
    fc.tuple(
      fc.constant(name),
      fc.oneof(
        { arbitrary: fittingOf(schema).map(String), weight: 2 },
        { arbitrary: hostileText, weight: 1 },
      ),
    ),
  )
  const stray = fc.tuple(hostileText, hostileText)
  const pair = known.length === 0 ? stray : fc.oneof({ arbitrary: fc.oneof(...known), weight: 8 }, stray)
  const query: fc.Arbitrary<[string, string][]> = fc.oneof(
    fc.constant<[string, string][]>([]),
    fc.array(pair, { maxLength: 2 }),
  )
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { arbitrary: bodyOf(schema).map((value) => JSON.stringify(value) ?? ''), weight: 16 },
          { arbitrary: fc.constantFrom('', '{', '\u0000', '{"a":1}x', '"x"'), weight: 1 },
          { arbitrary: fc.constant(JSON.stringify({ type: 'x'.repeat(200_000) })), weight: 1 },
        )
  return fc.record({
    path: filled,
    query,
    headers: oddHeaders,
    body: body as fc.Arbitrary<string | undefined>,
  })
}

/** As a client that knows no better would: what cannot be encoded is left out. */
const escape = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2e')

function callOf(sent: Sent): { line: string; headers: Record<string, string> } {
  const query = sent.query.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&')
  return { line: `${sent.path}${query === '' ? '' : `?${query}`}`, headers: Object.fromEntries(sent.headers) }
}

async function send(route: Route, sent: Sent, as: string): Promise<{ status: number; text: string }> {
  const { line, headers } = callOf(sent)
  const response = await bench.app.fetch(
    new Request(`http://127.0.0.1${line}`, {
      method: route.method,
      headers: {
        authorization: `Bearer ${tokens[as]}`,
        ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    }),
  )
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { status: response.status, text: await response.text() }
  await response.body?.cancel()
  return { status: response.status, text: '' }
}

/** The admin's deletes and cancels would leave the owner nothing to look for. */
const harmless = routes.filter(({ path }) => !path.startsWith('/v1/tokens') && path !== '/v1/session')

describe('hostile input', () => {
  it.each([1_000, 6_000, 48_000])(
    'OPS-8 a payload of %i lists in one another is taken or refused',
    async (depth) => {
      const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`
      const made = await bench.call('POST /v1/jobs', { body: `{"type": "deep", "payload": ${nested}}` })
      expect([201, 400]).toContain(made.status)
      expect((await bench.call('GET /v1/jobs?q=type:deep&with_payload=true')).status).toBe(200)
      const claimed = await bench.call('POST /v1/leases/claim', {
        body: { worker_id: 'w', queues: ['deep'], limit: 1 },
      })
      expect(claimed.status).toBe(200)
    },
  )

  it('OPS-8 the document has routes to fuzz', () => {
    expect(documentInfo.openapi).toBe('3.1.0')
    expect(routes.length).toBeGreaterThan(40)
  })

  it.each(routes)('OPS-8 $method $path answers 2xx or 4xx, and nothing of the inside', async (route) => {
    await fc.assert(
      fc.asyncProperty(sentTo(route), async (sent) => {
        const { status, text } = await send(route, sent, 'admin')
        expect(status, `says ${text.slice(0, 500)}`).toBeGreaterThanOrEqual(200)
        expect(status, `says ${text.slice(0, 500)}`).toBeLessThan(500)
        if (status >= 400) expect(text).not.toMatch(INSIDE)
      }),
      { numRuns: 60 },
    )
  })

  it.each(harmless)('C21 $method $path tells an owner nothing of another', async (route) => {
    await fc.assert(
      fc.asyncProperty(sentTo(route), async (sent) => {
        const { status, text } = await send(route, sent, 'owner')
        expect(status, `says ${text.slice(0, 500)}`).toBeLessThan(500)
        expect(text).not.toContain(OF_ANOTHER)
        // An answer may name what it was asked for, and a job has in it what its owner wrote.
        const { line } = callOf(sent)
        for (const id of foreignIds.filter((each) => !`${line}${sent.body ?? ''}`.includes(each)))
          expect(text).not.toMatch(new RegExp(`"(?:example_)?(?:job_)?id":"${id}"`))
      }),
      { numRuns: 25 },
    )
  })
})
