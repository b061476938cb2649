// One POST to an address that was checked. Follows no redirect, and reads nothing of the answer but its status.
import type { Address } from './webhook-address.ts'

export interface WebhookPost {
  url: URL
  /** What is connected to, whatever the name resolves to by now. */
  address: Address
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

/** The status of the answer. */
export async function postWebhook({ url, address, headers, body, signal }: WebhookPost): Promise<number> {
  // Every worker looks for deliveries and few find any: Node's HTTP, which brings its fetch along, is 7 MB.
  const http = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal,
      // A connection of its own: one that is kept could lead where another webhook may not go.
      agent: false,
      lookup: (_hostname, options, answer) => {
        if (options.all === true) answer(null, [address])
        else answer(null, address.address, address.family)
      },
    })
    request.on('error', reject)
    request.once('response', (response) => {
      resolve(response.statusCode ?? 0)
      // The rest may be endless.
      response.on('error', () => {}).destroy()
    })
    request.end(body)
  })
}
