// Metrics of a worker or reaper for Prometheus, on a port of their own.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { Metrics } from '../../observe/metrics/metrics.ts'
import { printProgress } from '../terminal/output.ts'

export interface MetricsFlags {
  metricsPort?: string
  metricsHost?: string
}

/** Nobody else can read them unless an address is given. */
const LOOPBACK = '127.0.0.1'

export const withMetrics = (command: Command): Command =>
  command
    .option('--metrics-port <port>', 'serve metrics for Prometheus on this port; 0 chooses a free one')
    .option('--metrics-host <address>', `address of that port; default: ${LOOPBACK}`)

/** Null without `--metrics-port`. A port that is taken fails before any work starts. */
export async function serveMetrics(
  { metricsPort, metricsHost }: MetricsFlags,
  open: () => Promise<Metrics>,
): Promise<{ close(): void } | null> {
  if (metricsPort === undefined) {
    if (metricsHost !== undefined)
      throw invalidArgument('--metrics-host', metricsHost, 'a --metrics-port beside it')
    return null
  }
  const port = readPort(metricsPort)
  const host = metricsHost ?? LOOPBACK
  const metrics = await open()
  const server = createServer((request, response) => {
    const isAsked = request.url?.split('?')[0] === '/metrics' && request.method === 'GET'
    void (isAsked ? answer(metrics, response) : refuse(response))
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UnstuckError('PRECONDITION_FAILED', `metrics: ${reason}`, {
      hint: 'Choose another --metrics-port, or 0 for a free one.',
      cause,
    })
  }
  const { port: bound } = server.address() as AddressInfo
  printProgress(`metrics on http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`)
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function readPort(given: string): number {
  const port = Number(given)
  if (/^\d{1,5}$/.test(given) && port <= 65_535) return port
  throw invalidArgument('--metrics-port', given, 'a port from 0 to 65535')
}

async function answer(metrics: Metrics, response: ServerResponse): Promise<void> {
  try {
    const body = await metrics.text()
    response.writeHead(200, { 'content-type': metrics.contentType }).end(body)
  } catch {
    response.writeHead(500).end()
  }
}

async function refuse(response: ServerResponse): Promise<void> {
  response.writeHead(404, { 'content-type': 'text/plain' }).end('Only GET /metrics is here.\n')
}
