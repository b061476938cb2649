// The application: a page, uploads, results, and under /v1 and /api the HTTP API of unstuck, where each user sees its own jobs.
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import { createApp, roles } from 'unstuck/http'
import { writeWholeFile } from './write-whole-file.mjs'

/** @import { Context } from 'hono' */
/** @import { Unstuck } from 'unstuck' */
/** @import { Gateway } from './gateway.mjs' */
/** @typedef {{ q: Unstuck, gateway: Gateway, uploadsDir: string, resultsDir: string }} Parts */

/** An example login: anybody can be either of them. */
const users = ['ana', 'bob']
const MAX_PDF_BYTES = 5 * 1024 * 1024
const BANNER = 'Converter busy — jobs will resume automatically.'

/** @param {Parts} parts */
export function createWeb(parts) {
  const api = createApp({ authorize: (request) => actorOf(userOf(request)) })
  const web = new Hono()
  web.all('/v1/*', (c) => api.fetch(c.req.raw))
  web.all('/api/*', (c) => api.fetch(c.req.raw))
  addPage(web)
  addFiles(web, parts)
  addGateway(web, parts)
  return { fetch: web.fetch, close: () => api.close() }
}

/** @param {string | undefined} user */
function actorOf(user) {
  return user === undefined ? null : { id: `user:${user}`, scopes: roles.support, owner: user }
}

/** @param {Request} request */
function userOf(request) {
  const [, user = ''] = /(?:^|;\s*)user=(\w+)/.exec(request.headers.get('cookie') ?? '') ?? []
  return users.includes(user) ? user : undefined
}

/** @param {Hono} web */
function addPage(web) {
  const file = (/** @type {string} */ name) => readFile(new URL(name, import.meta.url), 'utf8')
  web.get('/', async (c) => c.html(await file('page.html')))
  web.get('/page.js', async (c) => c.body(await file('page.js'), 200, { 'content-type': 'text/javascript' }))
  web.post('/login/:user', (c) => {
    const user = c.req.param('user')
    if (!users.includes(user)) return c.json({ code: 'FORBIDDEN' }, 403)
    setCookie(c, 'user', user, { httpOnly: true, sameSite: 'Strict', path: '/' })
    return c.json({ user })
  })
}

/**
 * @param {Hono} web
 * @param {Parts} parts
 */
function addFiles(web, { q, uploadsDir, resultsDir }) {
  web.post('/uploads', async (c) => {
    const owner = userOf(c.req.raw)
    if (owner === undefined) return c.json({ code: 'FORBIDDEN' }, 401)
    if (Number(c.req.header('content-length') ?? 0) > MAX_PDF_BYTES) return c.json({ code: 'TOO_LARGE' }, 413)
    const pdf = Buffer.from(await c.req.arrayBuffer())
    if (pdf.length > MAX_PDF_BYTES) return c.json({ code: 'TOO_LARGE' }, 413)
    if (!pdf.subarray(0, 5).equals(Buffer.from('%PDF-'))) return c.json({ code: 'NOT_PDF' }, 415)
    const source = `${randomUUID()}.pdf`
    // First the file, then the job: a job never waits for a missing file.
    await writeWholeFile(join(uploadsDir, source), pdf, 'upload')
    const payload = { source, name: c.req.query('name') ?? source }
    const { jobId } = await q.enqueue({ type: 'convert', owner, payload })
    return c.json({ id: jobId }, 201)
  })

  web.delete('/sources/:id', async (c) => {
    const job = await ownJob(c, q)
    if (job === undefined) return c.json({ code: 'UNKNOWN' }, 404)
    const { source } = /** @type {{ source: string }} */ (job.payload)
    await rm(join(uploadsDir, source), { force: true })
    return c.json({ id: job.id })
  })

  web.get('/results/:id', async (c) => {
    const job = await ownJob(c, q)
    if (job === undefined) return c.json({ code: 'UNKNOWN' }, 404)
    if (job.status !== 'succeeded') return c.json({ code: 'NOT_READY' }, 409)
    const xml = await readFile(join(resultsDir, `${job.id}.xml`))
    return c.body(xml, 200, { 'content-type': 'application/xml' })
  })
}

/**
 * A job of another owner is not found, as in the API.
 * @param {Context} c
 * @param {Unstuck} q
 */
async function ownJob(c, q) {
  const owner = userOf(c.req.raw)
  const job = owner === undefined ? null : await q.store.getJob(c.req.param('id') ?? '')
  return job !== null && job.owner === owner ? job : undefined
}

/**
 * @param {Hono} web
 * @param {Parts} parts
 */
function addGateway(web, { q, gateway }) {
  web.get('/status', async (c) => {
    const breakers = await q.store.listBreakers()
    const isHeldBack = breakers.some(({ name, state }) => name === 'gateway' && state !== 'closed')
    return c.json({
      banner: isHeldBack ? BANNER : null,
      isBroken: gateway.isBroken,
      user: userOf(c.req.raw) ?? null,
    })
  })
  web.post('/gateway/:state{break|heal}', (c) => {
    gateway.isBroken = c.req.param('state') === 'break'
    return c.json({ isBroken: gateway.isBroken })
  })
}
