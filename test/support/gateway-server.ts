// An HTTP service that answers, fails or hangs on command.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GatewayServer {
  url: string
  /** Status of the answers from now on; null is no answer at all. */
  status: number | null
  /** Sent with it. */
  headers: Record<string, string>
  /** Every call that was no probe, with the job that made it and when. */
  posts: { jobId: string; atMs: number }[]
  probes: number
  close(): void
}

export async function startGatewayServer(): Promise<GatewayServer> {
  const server = createServer((request, response) => {
    if (request.method === 'POST')
      gateway.posts.push({ jobId: String(request.headers['x-job']), atMs: performance.now() })
    else gateway.probes++
    if (gateway.status !== null) response.writeHead(gateway.status, gateway.headers).end('<xml/>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const gateway: GatewayServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    status: 200,
    headers: {},
    posts: [],
    probes: 0,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return gateway
}
