import { listTrends } from '../../commands/queue-control-commands.ts'
import { type Api, type ApiParts, contextOf, envelopeOf, json, readProblems } from '../api.ts'
import { type Trend, trendsAnswer, trendsQuery } from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'

export function addTrendRoutes(api: Api, { clock }: ApiParts): void {
  const list = createRoute({
    method: 'get',
    path: '/v1/trends',
    operationId: 'listTrends',
    summary: 'Jobs enqueued, completed, failed and rescued per minute or hour, with waits and runs',
    request: { query: trendsQuery },
    responses: {
      200: json(trendsAnswer, 'By table, newest first; totals by how busy they are.'),
      ...readProblems,
    },
  })
  api.openapi(list, async (c) => {
    const { hours, ...query } = c.req.valid('query')
    const found = valueOf(await listTrends(contextOf(c), { ...query, sinceMs: hours * 3_600_000 }))
    const trends = found.map(({ table, value }): Trend => {
      const { at, waitP50Ms, waitP95Ms, runP50Ms, runP95Ms, isBounded, ...counts } = value
      const durations = {
        wait_p50_ms: waitP50Ms,
        wait_p95_ms: waitP95Ms,
        run_p50_ms: runP50Ms,
        run_p95_ms: runP95Ms,
      }
      return { table, at: at.toISOString(), ...counts, ...durations, is_bounded: isBounded }
    })
    return c.json({ ...envelopeOf({ now: await clock.now() }), trends }, 200)
  })
}
