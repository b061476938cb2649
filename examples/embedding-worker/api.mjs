// An embedding API as providers have them: a token for each call, a bucket that fills at a rate, and 429 with Retry-After
// when it is empty. The vectors are made from a digest; everything else is real.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** @import { AddressInfo } from 'node:net' */
/** @import { IncomingMessage, ServerResponse } from 'node:http' */

const DIMENSIONS = 8

/** @param {{ ratePerS: number, burst: number }} limit */
export async function startApi({ ratePerS, burst }) {
  let tokens = burst
  let filledAtMs = performance.now()
  /** How often each text was embedded. @type {Map<string, number>} */
  const embedded = new Map()
  /** @type {string[]} */
  const refused = []

  const takeToken = () => {
    const nowMs = performance.now()
    tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) / 1000) * ratePerS)
    filledAtMs = nowMs
    if (tokens < 1) return false
    tokens -= 1
    return true
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  const answer = async (request, response) => {
    const text = await readText(request)
    if (!takeToken()) {
      refused.push(text)
      response.writeHead(429, { 'retry-after': String(Math.ceil((1 - tokens) / ratePerS)) }).end()
      return
    }
    embedded.set(text, (embedded.get(text) ?? 0) + 1)
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ vector: vectorOf(text) }))
  }

  const server = createServer((request, response) => {
    // A killed worker hangs up.
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    embedded,
    refused,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** @param {IncomingMessage} request */
async function readText(request) {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

/** @param {string} text */
function vectorOf(text) {
  const digest = createHash('sha256').update(text).digest()
  return Array.from({ length: DIMENSIONS }, (_, n) => digest.readInt16BE(n * 2) / 32768)
}
