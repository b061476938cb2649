// One POST to a checked address. Follows no redirect, and reads only the status of the answer.
import type { Address } from './webhook-address.ts'

export interface WebhookPost {
  url: URL
  /** The address to connect to, whatever the name resolves to by now. */
  address: Address
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

/** Returns the status of the answer. */
export async function postWebhook({ url, address, headers, body, signal }: WebhookPost): Promise<number> {
  // Loaded on demand: few workers ever send a delivery, and Node's HTTP modules take 7 MB.
  const http = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal,
      // No shared connection: a kept one could reach an address that is forbidden to another webhook.
      agent: false,
      lookup: (_hostname, options, answer) => {
        if (options.all === true) answer(null, [address])
        else answer(null, address.address, address.family)
      },
    })
    request.on('error', reject)
    request.once('response', (response) => {
      resolve(response.statusCode ?? 0)
      // The body may be endless.
      response.on('error', () => {}).destroy()
    })
    request.end(body)
  })
}
