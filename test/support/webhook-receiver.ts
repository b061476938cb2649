// An HTTP server that receives webhooks and answers on command.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WebhookEvent } from '../../src/store/ports/webhook-store.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  event: WebhookEvent
}

export interface WebhookReceiver {
  url: string
  /** Statuses of the next calls, one after the other, and then 200; null is no answer at all. */
  answers: (number | null)[]
  received: Received[]
  close(): void
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { url: path = '', headers } = request
      receiver.received.push({ path, headers, body, event: JSON.parse(body) as WebhookEvent })
      const status = receiver.answers.length === 0 ? 200 : receiver.answers.shift()
      if (status === null || status === undefined) return
      response.writeHead(status, status >= 300 && status < 400 ? { location: '/elsewhere' } : {}).end('fine')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    answers: [],
    received: [],
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}

/** Independent implementation of the specification, because the sender's own code is under test. */
export function expectedSignature({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const text = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  return `v1,${createHmac('sha256', key).update(text, 'utf8').digest('base64')}`
}
