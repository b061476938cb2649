// examples/pdf-converter over HTTP, as its page uses it.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type ExampleProcess, makeDatabase, makeFolder, startExample } from './example-process.ts'

vi.setConfig({ testTimeout: 120_000 })

const BANNER = 'Converter busy — jobs will resume automatically.'

interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- an assertion judges it
  body: any
}

/** Sends requests as a browser with the page open does. */
class Visitor {
  readonly #url: string
  readonly #user: string

  constructor(url: string, user: string) {
    this.#url = url
    this.#user = user
  }

  async call(line: string, body?: string): Promise<Reply> {
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(this.#url + path, {
      method,
      headers: { cookie: `user=${this.#user}`, 'x-unstuck': '1', 'sec-fetch-site': 'same-origin' },
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, body: isJson ? JSON.parse(text) : text }
  }

  async upload(text: string): Promise<string> {
    const { status, body } = await this.call('POST /uploads?name=a.pdf', `%PDF-1.4\n% ${text}\n%%EOF\n`)
    expect(status).toBe(201)
    return body.id
  }

  async until(id: string, status: string): Promise<Reply['body']> {
    return vi.waitFor(
      async () => {
        const { body } = await this.call(`GET /v1/jobs/${id}`)
        expect(body.job).toMatchObject({ status })
        return body
      },
      { timeout: 30_000, interval: 100 },
    )
  }

  async untilBanner(banner: string | null): Promise<void> {
    await vi.waitFor(async () => expect((await this.call('GET /status')).body.banner).toBe(banner), {
      timeout: 30_000,
      interval: 100,
    })
  }
}

interface OpenExample {
  example: ExampleProcess
  ana: Visitor
  bob: Visitor
}

async function open(folder: string, env: Record<string, string>): Promise<OpenExample> {
  const example = startExample('pdf-converter/start.mjs', { args: [folder], env: { PORT: '0', ...env } })
  const [, url = ''] = await example.said(/Open (http:\S+)/)
  return { example, ana: new Visitor(url, 'ana'), bob: new Visitor(url, 'bob') }
}

it('OPS-8 the PDF converter says which variable chooses another port where its own is taken', async () => {
  const { url } = await makeDatabase()
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = { PORT: String(port), DATABASE_URL: url }
  const example = startExample('pdf-converter/start.mjs', { args: [makeFolder()], env })
  expect(await example.ended).toBe(1)
  expect(example.lines).toContain(`port ${port} is taken: set PORT to another one`)
})

it('BREAK-2 BREAK-3 BREAK-4 OPS-1 the PDF converter: a broken gateway costs waiting jobs nothing, and retry is the owner’s', async () => {
  const folder = makeFolder()
  const { url } = await makeDatabase()
  const { ana, bob } = await open(folder, { DATABASE_URL: url, WORKER_LEASE_TTL_SEC: '60' })

  const first = await ana.upload('invoice 1')
  await ana.until(first, 'succeeded')
  expect((await ana.call(`GET /results/${first}`)).body).toMatch(
    /^<\?xml[\s\S]*<line>% invoice 1<\/line>[\s\S]*<\/document>\n$/,
  )
  expect(await bob.call(`GET /results/${first}`)).toMatchObject({ status: 404 })
  expect(await ana.call('POST /uploads', 'no pdf')).toMatchObject({ status: 415, body: { code: 'NOT_PDF' } })

  await ana.call('POST /gateway/break')
  const noticed = await ana.upload('notices that it is broken')
  await ana.untilBanner(BANNER)
  const held = await Promise.all([1, 2, 3, 4].map((n) => ana.upload(`held ${n}`)))
  for (const id of held)
    expect((await ana.call(`GET /v1/jobs/${id}`)).body.job).toMatchObject({ status: 'waiting', attempt: 0 })
  await ana.call('POST /gateway/heal')
  await ana.untilBanner(null)
  for (const id of held)
    expect((await ana.until(id, 'succeeded')).job).toMatchObject({ attempt: 1, failures: 0 })
  await ana.until(noticed, 'succeeded')
  expect(readdirSync(join(folder, 'results')).toSorted()).toEqual(
    [first, noticed, ...held].map((id) => `${id}.xml`).toSorted(),
  )

  const dead = await ana.upload('unreadable')
  const { job, retry } = await ana.until(dead, 'dead')
  expect(job.error).toMatchObject({ code: 'GW_4XX' })
  expect(retry).toEqual({ is_allowed: true, reason: null })
  expect(await bob.call(`POST /api/jobs/${dead}/retry`)).toMatchObject({ status: 404 })
  expect((await bob.call('GET /v1/jobs')).body.jobs).toEqual([])
  expect(await ana.call(`POST /api/jobs/${dead}/retry`)).toMatchObject({ status: 200 })
  await ana.until(dead, 'dead')

  expect(await bob.call(`DELETE /sources/${dead}`)).toMatchObject({ status: 404 })
  expect(await ana.call(`DELETE /sources/${dead}`)).toMatchObject({ status: 200 })
  expect((await ana.until(dead, 'dead')).retry).toEqual({
    is_allowed: false,
    reason: 'Its source no longer exists: it cannot run again.',
  })
  expect(await ana.call(`POST /api/jobs/${dead}/retry`)).toMatchObject({
    status: 409,
    body: { code: 'EXPIRED' },
  })
})

it('REAP-1 the PDF converter: everything is killed in the middle, and a second start finishes the job', async () => {
  const folder = makeFolder()
  // On the embedded database, which dies with it.
  const env = { WORKER_LEASE_TTL_SEC: '3', HEARTBEAT_SEC: '1' }
  const before = await open(folder, env)
  const id = await before.ana.upload('killed')
  await before.example.said(/converts a\.pdf/)
  before.example.kill('SIGKILL')
  await before.example.ended
  const after = await open(folder, env)
  const { job } = await after.ana.until(id, 'succeeded')
  expect(job).toMatchObject({ failures: 0 })
  expect(job.crashes).toBeGreaterThan(0)
  expect(readdirSync(join(folder, 'results'))).toEqual([`${id}.xml`])
})
