// Tokens and answered requests, through the functions and the store.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { AccessStore } from '../../../src/store/access-store.ts'
import { createPostgresAccess } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openRefusalBench, type RefusalBench, type Row } from '../bad-arguments/refusal.ts'

const [table] = nativeProfile('unstuck').tables
let refusals: RefusalBench
let database: TestDatabase
let access: AccessStore

beforeAll(async () => {
  refusals = await openRefusalBench()
  await refusals.plant()
  database = await createInstalledDatabase()
  access = createPostgresAccess({ client: database.pool, table })
})

afterAll(async () => {
  await refusals.close()
  await database.drop()
})

const expectRefusals = (...row: Row) => refusals.expectRefusals(...row)
const digest = () => randomBytes(32).toString('hex')
const hash = `sha256('x')`
const token = (name: string, scopes = `array['jobs:read']`, owner = 'null', expires = 'null') =>
  `create_token(${name}, ${hash}, ${scopes}, ${owner}, ${expires})`

describe('bad arguments', () => {
  it.each([
    ['create_token', 'name', token('$1::text'), [null], ['', ''], ['a b'], ['x'.repeat(65)]],
    ['create_token', 'scopes', token(`'t'`, '$1::text[]'), [null], ['{}'], ['{NULL}']],
    ['create_token', 'owner', token(`'t'`, undefined, '$1::text'), ['', ''], ['x'.repeat(201)]],
    ['create_token', 'expires_in_ms', token(`'t'`, undefined, undefined, '$1::bigint'), [0, '0'], [-1, '-1']],
    ['create_token', 'sha256', `create_token('t', $1::bytea, array['a'])`, ['\\x00', '1 bytes']],
    ['begin_request', 'actor', `begin_request($1::text, 'k', ${hash})`, [null], ['', '']],
    ['begin_request', 'key', `begin_request('a', $1::text, ${hash})`, [null], ['', ''], ['x'.repeat(256)]],
    ['begin_request', 'sha256', `begin_request('a', 'k', $1::bytea)`, [null], ['\\x00', '1 bytes']],
  ] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
})

describe('tokens', () => {
  it('OPS-1 one is found by its digest until it ends or is revoked', async () => {
    const [lasting, short] = [digest(), digest()]
    expect(
      await access.createToken({ name: 'a', sha256: lasting, scopes: ['jobs:read'], owner: 'ana' }),
    ).toBe(true)
    expect(await access.createToken({ name: 'a', sha256: digest(), scopes: ['jobs:read'] })).toBe(false)
    expect(
      await access.createToken({ name: 'b', sha256: short, scopes: ['jobs:read'], expiresInMs: 60_000 }),
    ).toBe(true)
    expect(await access.findToken(lasting)).toEqual({
      name: 'a',
      sha256: lasting,
      scopes: ['jobs:read'],
      owner: 'ana',
    })
    expect(await access.findToken(short)).toMatchObject({ name: 'b' })
    await database.pool.query(`update unstuck.tokens set expires_at = expires_at - interval '61 s'`)
    expect(await access.findToken(short)).toBeNull()
    expect(await access.revokeToken('a', 'ana')).toBe(true)
    expect(await access.revokeToken('a', 'ana')).toBe(false)
    expect(await access.findToken(lasting)).toBe('revoked')
    expect(await access.listTokens()).toMatchObject([{ name: 'a' }, { name: 'b', revokedAt: null }])
  })
})

describe('requests', () => {
  const request = (key: string) => ({ actor: 'token:a', key })

  it('OPS-1 of many with one key at once, one begins', async () => {
    const sha256 = digest()
    const begun = await Promise.all(
      Array.from({ length: 8 }, () => access.beginRequest({ ...request('at-once'), sha256 })),
    )
    expect(begun.filter(({ outcome }) => outcome === 'begun')).toHaveLength(1)
    expect(begun.filter(({ outcome }) => outcome === 'in-progress')).toHaveLength(7)
  })

  it('OPS-1 an answered one is answered again, and another request with its key is refused', async () => {
    const sha256 = digest()
    await access.beginRequest({ ...request('answered'), sha256 })
    await access.finishRequest({ ...request('answered'), status: 201, answer: '{"id":"1"}' })
    const again = await access.beginRequest({ ...request('answered'), sha256 })
    expect(again).toEqual({ outcome: 'answered', status: 201, answer: '{"id":"1"}' })
    const other = await access.beginRequest({ ...request('answered'), sha256: digest() })
    expect(other).toEqual({ outcome: 'reused' })
    await access.forgetRequest(request('answered'))
    expect(await access.beginRequest({ ...request('answered'), sha256 })).toMatchObject({
      outcome: 'answered',
    })
  })

  it('OPS-1 one that was deleted, or never ended, begins again', async () => {
    const sha256 = digest()
    await access.beginRequest({ ...request('forgotten'), sha256 })
    await access.forgetRequest(request('forgotten'))
    expect(await access.beginRequest({ ...request('forgotten'), sha256 })).toEqual({ outcome: 'begun' })
    await database.pool.query(`update unstuck.requests set begun_at = begun_at - interval '61 s'`)
    expect(await access.beginRequest({ ...request('forgotten'), sha256 })).toEqual({ outcome: 'begun' })
    expect(await access.beginRequest({ ...request('forgotten'), sha256 })).toEqual({ outcome: 'in-progress' })
  })

  it('OPS-1 what is older than a day goes, a few with each call', async () => {
    await database.pool.query(`delete from unstuck.requests`)
    for (let n = 0; n < 25; n++) await access.beginRequest({ ...request(`old-${n}`), sha256: digest() })
    await database.pool.query(`update unstuck.requests set begun_at = begun_at - interval '25 h'`)
    await access.beginRequest({ ...request('new'), sha256: digest() })
    const { rows } = await database.pool.query<{ count: string }>(`select count(*) from unstuck.requests`)
    expect(rows).toEqual([{ count: '6' }])
  })
})
