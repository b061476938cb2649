import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runCommand } from './support/run-command.ts'
import { startServe } from './support/serve-command.ts'

let database: TestDatabase
let env: Record<string, string>

beforeAll(async () => {
  database = await createInstalledDatabase()
  env = { DATABASE_URL: database.url }
})

afterAll(() => database.drop())

const start = (args: string[], more: Record<string, string> = {}) => startServe(args, { ...env, ...more })

describe('unstuck serve', () => {
  it('OPS-1 listens on this machine alone, for whoever is on it, until SIGTERM', async () => {
    const { command, url } = await start([])
    await command.said(`"url":"${url}","isReadOnly":false,"isOpen":true`)
    expect((await fetch(`${url}/v1/jobs`)).status).toBe(200)
    const stream = await fetch(`${url}/v1/stream`)
    expect(stream.status).toBe(200)
    command.kill('SIGTERM')
    expect(await command.result).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('WORK-4 a client that never sends the rest of its request does not hold up the end', async () => {
    const { command, url } = await start([])
    const { host, port } = new URL(url)
    const client = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void client.destroy())
    client.on('error', () => {})
    const head = [
      'POST /v1/jobs HTTP/1.1',
      `Host: ${host}`,
      'Content-Type: application/json',
      'Content-Length: 99',
    ]
    await new Promise<void>((resolve) => client.write(`${head.join('\r\n')}\r\n\r\n{`, () => resolve()))
    // A later request on another connection: the server has seen both.
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    command.kill('SIGTERM')
    expect(await command.result).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it.each(['0.0.0.0', '::', '192.0.2.7', 'example.com'])(
    'OPS-1 refuses to listen on %s while nobody is asked for a token',
    async (host) => {
      const { exitCode, stderr } = await runCommand(['serve', '--host', host, '--port', '0'], env)
      expect(exitCode).toBe(2)
      expect(stderr).toContain(`refusing to listen on ${host}`)
      expect(stderr).toContain('unstuck tokens create')
    },
  )

  it('OPS-8 a port that is taken is one clear line', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const { exitCode, stderr } = await runCommand(['serve', '--port', String(port)], env)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: the address is in use`)
  })

  it('OPS-8 half of a JWT configuration, or a secret that can be guessed, stops the start', async () => {
    const half = await runCommand(['serve', '--port', '0'], {
      ...env,
      UNSTUCK_JWT_ISSUER: 'https://login.example',
    })
    expect(half).toMatchObject({ exitCode: 2 })
    expect(half.stderr).toContain('UNSTUCK_JWT_AUDIENCE')
    const jwt = { UNSTUCK_JWT_ISSUER: 'i', UNSTUCK_JWT_AUDIENCE: 'a', UNSTUCK_JWT_SECRET: 'short' }
    const short = await runCommand(['serve', '--port', '0'], { ...env, ...jwt })
    expect(short).toMatchObject({ exitCode: 2 })
    expect(short.stderr).not.toContain('short')
  })

  it('OPS-1 believes a proxy at its address, and asks everybody else for a token', async () => {
    const header = { 'x-forwarded-user': 'ana' }
    const proxy = { UNSTUCK_PROXY_HEADER: 'x-forwarded-user', UNSTUCK_PROXY_ROLES: 'ana=operator' }
    const { url } = await start(['--host', '0.0.0.0'], { ...proxy, UNSTUCK_PROXY_FROM: '127.0.0.1/32' })
    expect(await (await fetch(`${url}/v1/me`, { headers: header })).json()).toMatchObject({ id: 'proxy:ana' })
    expect((await fetch(`${url}/v1/me`)).status).toBe(401)
    const elsewhere = await start([], { ...proxy, UNSTUCK_PROXY_FROM: '192.0.2.7' })
    expect((await fetch(`${elsewhere.url}/v1/me`, { headers: header })).status).toBe(401)
  })

  it.each([
    { UNSTUCK_PROXY_HEADER: 'x-forwarded-user' },
    { UNSTUCK_PROXY_HEADER: 'x-forwarded-user', UNSTUCK_PROXY_FROM: 'proxy.example' },
    { UNSTUCK_PROXY_HEADER: 'x-user', UNSTUCK_PROXY_FROM: '::1', UNSTUCK_PROXY_ROLES: 'ana:admin' },
  ])('OPS-8 half of a trusted proxy, %j, stops the start', async (proxy) => {
    const { exitCode, stderr } = await runCommand(['serve', '--port', '0'], { ...env, ...proxy })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/trusted proxy|UNSTUCK_PROXY/)
  })

  it('OPS-1 read-only refuses what changes something', async () => {
    const { url } = await start([], { UNSTUCK_READ_ONLY: '1' })
    const reply = await fetch(`${url}/v1/reaper/run`, { method: 'POST' })
    expect(await reply.json()).toMatchObject({ status: 403, code: 'READ_ONLY' })
  })

  it('OPS-1 asks for a token from the moment there is one, and takes a later one, without a restart', async () => {
    const own = await createInstalledDatabase()
    onTestFinished(() => own.drop())
    const ownEnv = { DATABASE_URL: own.url }
    const { url } = await startServe([], ownEnv)
    const statusOf = async (secret?: string) => {
      const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
      return (await fetch(`${url}/v1/jobs`, { headers })).status
    }
    const create = async (name: string) =>
      (await runCommand(['tokens', 'create', name, '--role', 'viewer'], ownEnv)).stdout.trim()
    expect(await statusOf()).toBe(200)
    const first = await create('first')
    expect(await statusOf()).toBe(401)
    expect(await statusOf(first)).toBe(200)
    const second = await create('second')
    expect(await statusOf(second)).toBe(200)
    const stream = await fetch(`${url}/v1/stream`, { headers: { authorization: `Bearer ${second}` } })
    await runCommand(['tokens', 'revoke', 'second'], ownEnv)
    expect(await statusOf(second)).toBe(401)
    // Reads until the server closes it.
    expect(await stream.text()).toContain('event: counts')
    expect(await statusOf(first)).toBe(200)
  }, 120_000)
})

// Last: once a token exists, everyone needs one.
describe('unstuck tokens', () => {
  it('OPS-1 makes a token, shows it once, serves with it anywhere, and revokes it', async () => {
    expect((await runCommand(['tokens', 'list'], env)).stdout).toBe('no tokens\n')
    const made = await runCommand(['tokens', 'create', 'ci', '--role', 'support', '--expires-in', '90d'], env)
    expect(made).toMatchObject({ exitCode: 0 })
    const secret = made.stdout.trim()
    expect(secret).toMatch(/^unstuck_[\w-]{43}$/)
    const listed = await runCommand(['tokens', 'list'], env)
    expect(listed.stdout).toContain('ci  jobs:read')
    expect(listed.stdout).not.toContain(secret)

    const { url } = await start(['--host', '0.0.0.0'])
    const ask = (headers: Record<string, string>) => fetch(`${url}/v1/jobs`, { headers })
    expect((await ask({})).status).toBe(401)
    expect((await ask({ authorization: `Bearer ${secret}` })).status).toBe(200)
    expect(await runCommand(['tokens', 'revoke', 'ci'], env)).toMatchObject({ exitCode: 0 })
    expect((await ask({ authorization: `Bearer ${secret}` })).status).toBe(401)
  })

  it('OPS-8 refuses a name twice, an unknown scope, and a token that may nothing', async () => {
    const again = await runCommand(['tokens', 'create', 'ci', '--role', 'viewer'], env)
    expect(again).toMatchObject({ exitCode: 4 })
    expect(again.stderr).toContain('a revoked token keeps its name')
    expect(await runCommand(['tokens', 'create', 'x', '--scopes', 'jobs:all'], env)).toMatchObject({
      exitCode: 2,
    })
    expect(await runCommand(['tokens', 'create', 'x'], env)).toMatchObject({ exitCode: 2 })
    expect(await runCommand(['tokens', 'revoke', 'none'], env)).toMatchObject({ exitCode: 1 })
  })
})
