// The external service of the demo: a local HTTP server that can be broken.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GatewayServer {
  url: string
  isBroken: boolean
  close(): Promise<void>
}

export async function startGatewayServer(): Promise<GatewayServer> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(gateway.isBroken ? 503 : 200).end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const gateway: GatewayServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isBroken: false,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
  return gateway
}
