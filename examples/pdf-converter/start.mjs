// A page to upload PDFs, two workers that convert them through a gateway, and a button that breaks the gateway.
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { unstuck } from 'unstuck'
import { openDatabase } from '../open-database.mjs'
import { runExample } from '../run-example.mjs'
import { startWorkers } from '../start-workers.mjs'
import { startGateway } from './gateway.mjs'
import { createWeb } from './web.mjs'

/** @import { AddressInfo } from 'node:net' */
/** @import { AtEnd } from '../run-example.mjs' */

const folder = resolve(process.argv[2] ?? '.unstuck/pdf-converter')
const port = Number(process.env['PORT'] ?? 4780)
const uploadsDir = join(folder, 'uploads')
const resultsDir = join(folder, 'results')
const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))
/** Short enough to watch. Defaults: lease 300, heartbeat 30, delay 5000, jitter 5000, window 20, cooldown 30000. */
const settings = {
  WORKER_LEASE_TTL_SEC: '6',
  HEARTBEAT_SEC: '2',
  RETRY_BASE_DELAY_MS: '1000',
  RETRY_JITTER_MAX_MS: '500',
  CIRCUIT_WINDOW: '2',
  CIRCUIT_COOLDOWN_MS: '1000',
}
Object.assign(process.env, { ...settings, ...process.env })
Object.assign(process.env, { UNSTUCK_PROFILE: 'converter', UPLOADS_DIR: uploadsDir, RESULTS_DIR: resultsDir })

await runExample(async (atEnd) => {
  await mkdir(uploadsDir, { recursive: true })
  await mkdir(resultsDir, { recursive: true })
  const gateway = await startGateway()
  atEnd(() => gateway.close())
  process.env['GATEWAY_URL'] = gateway.url
  const database = await openDatabase({ folder, tables: new URL('tables.sql', import.meta.url) })
  atEnd(() => database.stop())
  console.log(
    `${database.description}\nSettings of this example, not the defaults: ${JSON.stringify(settings)}`,
  )

  const q = unstuck()
  atEnd(() => q.stop())
  const web = createWeb({ q, gateway, uploadsDir, resultsDir })
  atEnd(() => web.close())
  const workers = startWorkers({ command: process.execPath, args: [worker], count: 2 })
  atEnd(() => workers.stop())
  console.log(`Open ${await listen(web.fetch, atEnd)} and upload a PDF. Ctrl-C ends it.`)
  await workers.failed
})

/**
 * @param {(request: Request) => Response | Promise<Response>} fetch
 * @param {AtEnd} atEnd
 */
async function listen(fetch, atEnd) {
  const listener = getRequestListener(fetch)
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((/** @type {unknown} */ error) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    if (isTaken) error.message = `port ${port} is taken: set PORT to another one`
    throw error
  })
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`
}
