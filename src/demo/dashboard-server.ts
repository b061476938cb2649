// The dashboard of the demo, in its own process: the same server as `unstuck serve`, with buttons for the acts.
import { isUnstuckError } from '../errors/index.ts'
import type { Api } from '../http/api.ts'
import type { HttpServer } from '../http/serve.ts'
import { acts } from './acts.ts'
import type { DemoSession } from './demo-session.ts'
import type { Director } from './director.ts'
import { addDemoRoutes } from './routes.ts'

export interface DashboardServer extends Pick<HttpServer, 'url' | 'close'> {
  port: number
}

const HOST = '127.0.0.1'
const TRIED_PORTS = 50

/** On this port, or the next free one. */
export async function serveDashboard(
  session: DemoSession,
  director: Director,
  wanted: number,
): Promise<DashboardServer> {
  const { serve } = await import('../http/serve.ts')
  const { deployment } = session
  const config = { ...session.config, http: { ...session.config.http, environment: 'demo' } }
  const addRoutes = (api: Api) =>
    addDemoRoutes(api, {
      acts: acts.map(({ name, title }) => ({ name, title })),
      perform: (name) => director.perform(name),
    })
  for (let port = wanted; ; port++) {
    try {
      const server = await serve({ config, deployment, host: HOST, port, isReadOnly: false, addRoutes })
      return { url: server.url, port: Number(new URL(server.url).port), close: () => server.close() }
    } catch (error) {
      if (!isTaken(error) || port >= Math.min(wanted + TRIED_PORTS, 65_535)) throw error
    }
  }
}

function isTaken(error: unknown): boolean {
  return isUnstuckError(error) && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
}
