import { describe, expect, it } from 'vitest'
import type { ConfigFile } from '../config.ts'
import { loadConfig } from './load-config.ts'

const [first, second] = ['postgres://u:secret@one/db', 'postgres://u:secret@two/db']
const load = (shards: string, file?: ConfigFile) => loadConfig({ env: { UNSTUCK_SHARDS: shards }, file })

describe('UNSTUCK_SHARDS', () => {
  it('OPS-15 takes addresses, numbered by position, with a schema each', () => {
    const { shards, databaseUrl, schema } = load(`${first} ${second}#jobs_b`)
    expect(shards).toEqual([
      { url: first, schema: 'unstuck', number: 0, isDraining: false },
      { url: second, schema: 'jobs_b', number: 1, isDraining: false },
    ])
    expect([databaseUrl, schema]).toEqual([first, 'unstuck'])
  })

  it('OPS-15 takes JSON with numbers that stay when a shard is removed', () => {
    const { shards } = load(
      JSON.stringify([
        { url: second, number: 7 },
        { url: first, number: 2, isDraining: true },
      ]),
    )
    expect(shards?.map(({ number, isDraining }) => [number, isDraining])).toEqual([
      [2, true],
      [7, false],
    ])
  })

  it('OPS-15 the config file takes a list', () => {
    const config = loadConfig({
      env: {},
      file: { shards: [{ url: first }, { url: second }], shardRoute: 'owner' },
    })
    expect([config.shards?.length, config.shardRoute]).toEqual([2, 'owner'])
  })

  it('OPS-15 a number stands for schemas of the configured database', () => {
    const { shards } = loadConfig({
      env: { UNSTUCK_SHARDS: '16', DATABASE_URL: first, UNSTUCK_SCHEMA: 'jobs' },
    })
    expect(shards).toHaveLength(16)
    expect(shards?.at(-1)).toEqual({ url: first, schema: 'jobs_15', number: 15, isDraining: false })
  })

  it('OPS-15 UNSTUCK_SHARD_DIRECT says that the nodes of Citus are connected to', () => {
    const env = { UNSTUCK_SHARDS: '2', DATABASE_URL: first }
    const directOf = (more: object) =>
      loadConfig({ env: { ...env, ...more } }).shards?.map((shard) => shard.isDirect)
    expect(directOf({ UNSTUCK_SHARD_DIRECT: 'on' })).toEqual([true, true])
    expect(directOf({})).toEqual([undefined, undefined])
    expect(() => directOf({ UNSTUCK_SHARD_DIRECT: 'yes' })).toThrow(/UNSTUCK_SHARD_DIRECT/)
  })

  it.each(['0', '1', '101'])('OPS-15 %s is no number of shards', (count) => {
    expect(() => loadConfig({ env: { UNSTUCK_SHARDS: count, DATABASE_URL: first } })).toThrow(
      /2 to 100 schemas/,
    )
  })

  it('OPS-15 a number needs the address of a database', () => {
    expect(() => loadConfig({ env: { UNSTUCK_SHARDS: '4' } })).toThrow(/together with the address/)
  })

  it('OPS-15 a single database has none', () => {
    expect(loadConfig({ env: { DATABASE_URL: first } }).shards).toBeNull()
  })

  it.each(['clip', 'executor'])('OPS-15 refuses the profile %s, whose ids do not name a shard', (profile) => {
    const shards = `${first} ${second}`
    const env = { UNSTUCK_PROFILE: profile }
    const refusal = /the native profile: ids of other tables do not name their shard/
    expect(() => loadConfig({ env: { ...env, UNSTUCK_SHARDS: shards } })).toThrow(refusal)
    expect(() => loadConfig({ env, flags: { shards } })).toThrow(refusal)
    expect(() => loadConfig({ env, file: { shards: [{ url: first }] } })).toThrow(refusal)
  })

  it.each([
    ['nothing', ' '],
    ['another kind of database', 'mysql://one/db'],
    ['broken JSON', '[{"url":'],
    ['an unknown field', JSON.stringify([{ url: first, sceham: 'x' }])],
    ['a number that does not fit', JSON.stringify([{ url: first, number: 4_096 }])],
    ['a number twice', JSON.stringify([{ url: first, number: 1 }, { url: second }])],
    ['one schema twice', `${first} ${first}`],
    ['only draining ones', JSON.stringify([{ url: first, isDraining: true }])],
  ])('OPS-15 refuses %s, and shows no password', (_, text) => {
    const attempt = () => load(text)
    expect(attempt).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    expect(attempt).not.toThrow(/secret/)
  })
})
