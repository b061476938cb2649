import { expect, it } from 'vitest'
import { loadConfig } from './load-config.ts'

const pooler = 'postgres://app@pooler:6432/jobs'
const server = 'postgres://app@server:5432/jobs'

it('LEASE-4 WORK-1 heartbeats and hints use the address of the jobs unless a direct one is set', () => {
  expect(loadConfig({ env: { DATABASE_URL: pooler } }).directUrl).toBe(pooler)
  const config = loadConfig({ env: { DATABASE_URL: pooler, UNSTUCK_DIRECT_URL: server } })
  expect([config.databaseUrl, config.directUrl]).toEqual([pooler, server])
  const option = { env: { UNSTUCK_DIRECT_URL: pooler }, flags: { directUrl: server } }
  expect(loadConfig(option).directUrl).toBe(server)
})

it('WORK-1 UNSTUCK_LISTEN_URL, the former name of UNSTUCK_DIRECT_URL, still works', () => {
  const env = { DATABASE_URL: pooler, UNSTUCK_LISTEN_URL: server }
  expect(loadConfig({ env }).directUrl).toBe(server)
  expect(loadConfig({ env: { ...env, UNSTUCK_DIRECT_URL: pooler } }).directUrl).toBe(pooler)
})
