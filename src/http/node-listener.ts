// For servers with the messages of node:http: Express, Fastify and node:http itself.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { App } from './app-options.ts'

export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** Mount it before body parsers: the body must be unread. */
export function toNodeListener({ fetch }: Pick<App, 'fetch'>): NodeListener {
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false })
  return (incoming, outgoing) => {
    // Express strips the path of the mount; `basePath` needs the whole one.
    const { originalUrl } = incoming as { originalUrl?: unknown }
    if (typeof originalUrl === 'string') incoming.url = originalUrl
    void listener(incoming, outgoing)
  }
}
