// Probes and metrics, outside the contract of /v1.
import { scopes } from '../../commands/actor.ts'
import type { CommandContext } from '../../commands/command.ts'
import { refusalOf } from '../../commands/permissions.ts'
import { listBreakers, readHealth } from '../../commands/queue-control-commands.ts'
import { RuntimeEventEmitter } from '../../observe/events.ts'
import { createMetrics, type Metrics } from '../../observe/metrics/metrics.ts'
import { type Api, type ApiParts, contextOf, json, readProblems } from '../api.ts'
import { probeAnswer } from '../contract/index.ts'
import { z } from '../openapi/zod.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { problemOf, valueOf } from '../problem.ts'

/** Public: they only say whether it works. */
export function addProbeRoutes(api: Api, { options }: ApiParts): void {
  const alive = createRoute({
    method: 'get',
    path: '/healthz',
    operationId: 'healthz',
    summary: 'Liveness',
    responses: { 200: json(probeAnswer, 'Always.') },
  })
  api.openapi(alive, (c) => c.json({ status: 'ok' as const }, 200))

  const ready = createRoute({
    method: 'get',
    path: '/readyz',
    operationId: 'readyz',
    summary: 'Readiness: the database answers and shows its jobs',
    responses: {
      200: json(probeAnswer, 'Ready.'),
      503: json(probeAnswer, 'Database unreachable, or row security hides every job of a table.'),
    },
  })
  api.openapi(ready, async (c) => {
    try {
      const { access, tables } = options.reading ?? options
      await access.readClock()
      const hidden = await Promise.all(tables.map(({ store }) => store.readHidden()))
      if (hidden.some((found) => found?.isAll === true))
        return c.json({ status: 'unavailable' as const }, 503)
      return c.json({ status: 'ok' as const }, 200)
    } catch {
      // The database log has the reason.
      return c.json({ status: 'unavailable' as const }, 503)
    }
  })
}

export function addMetricsRoute(api: Api, { options }: ApiParts): void {
  let metrics: Promise<Metrics> | undefined
  const route = createRoute({
    method: 'get',
    path: '/metrics',
    operationId: 'readMetrics',
    summary: 'Metrics for Prometheus',
    responses: {
      200: { description: 'Prometheus text format.', content: { 'text/plain': { schema: z.string() } } },
      ...readProblems,
    },
  })
  api.openapi(route, async (c) => {
    if (options.hasPublicMetrics !== true) {
      const refusal = refusalOf('readMetrics', contextOf(c))
      if (refusal !== null) throw problemOf(refusal)
    }
    metrics ??= openMetrics({ ...options, ...options.reading })
    const opened = await metrics
    return c.text(await opened.text(), 200, { 'content-type': opened.contentType })
  })
}

/** Metrics from the database; a worker exposes its own. */
function openMetrics({ tables, policy }: ApiParts['options']): Promise<Metrics> {
  const actor = { id: 'metrics', scopes }
  const context: CommandContext = {
    actor,
    isReadOnly: true,
    tables,
    ...(policy === undefined ? {} : { policy }),
  }
  return createMetrics({
    events: new RuntimeEventEmitter(),
    table: tables[0].name,
    readHealth: async () =>
      valueOf(await readHealth(context, {})).map(({ table, value }) => ({ ...value, table })),
    readBreakers: async () => valueOf(await listBreakers(context, undefined)),
  })
}
