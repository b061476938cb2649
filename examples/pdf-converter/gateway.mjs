// The outside service that converts a PDF to XML, and that can be broken. It reads no real PDF, only lines of text in one.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @typedef {{ url: string, isBroken: boolean, conversions: number, close: () => void }} Gateway */

/** Long enough to kill a worker meanwhile. */
const CONVERSION_MS = 1_000

/** @returns {Promise<Gateway>} */
export async function startGateway() {
  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  const answer = async (request, response) => {
    const pdf = await buffer(request)
    if (request.method === 'POST' && !gateway.isBroken) await delay(CONVERSION_MS)
    if (gateway.isBroken) response.writeHead(503).end()
    else if (request.method !== 'POST') response.end('healthy')
    else if (pdf.includes('unreadable')) response.writeHead(422).end()
    else {
      gateway.conversions += 1
      response.setHeader('content-type', 'application/xml').end(toXml(pdf))
    }
  }

  const server = createServer((request, response) => {
    // A killed worker hangs up.
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {AddressInfo} */ (server.address())
  /** @type {Gateway} */
  const gateway = {
    url: `http://127.0.0.1:${port}`,
    isBroken: false,
    conversions: 0,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return gateway
}

/** @param {Buffer} pdf */
function toXml(pdf) {
  const sha256 = createHash('sha256').update(pdf).digest('hex')
  const lines = pdf.toString('latin1').match(/[ -~]{4,}/g) ?? []
  const escaped = lines.map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  const body = escaped.map((line) => `  <line>${line}</line>`).join('\n')
  return `<?xml version="1.0"?>\n<document bytes="${pdf.length}" sha256="${sha256}">\n${body}\n</document>\n`
}
