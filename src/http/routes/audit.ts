import { createAuditCommands, listProfiles } from '../../commands/rescue-commands.ts'
import { type Api, type ApiParts, contextOf, envelopeOf, json, readProblems } from '../api.ts'
import { auditAnswer, auditQuery, profilesAnswer, tableOnlyQuery } from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'
import { toWireAuditEntry, toWireProfile } from '../wire/rescues.ts'

const SHOWN_ENTRIES = 100

export function addAuditRoutes(api: Api, { options, clock }: ApiParts): void {
  const { listAuditEntries } = createAuditCommands(options.reading?.access ?? options.access)

  const audit = createRoute({
    method: 'get',
    path: '/v1/audit',
    operationId: 'listAuditEntries',
    summary: 'Audit log, newest first',
    request: { query: auditQuery },
    responses: { 200: json(auditAnswer, 'With actor and reason.'), ...readProblems },
  })
  api.openapi(audit, async (c) => {
    const { limit = SHOWN_ENTRIES, ...rest } = c.req.valid('query')
    const { entries, next } = valueOf(await listAuditEntries(contextOf(c), { ...rest, limit }))
    const now = envelopeOf({ now: await clock.now() })
    return c.json({ ...now, entries: entries.map(toWireAuditEntry), next_cursor: next }, 200)
  })

  const profiles = createRoute({
    method: 'get',
    path: '/v1/profiles',
    operationId: 'listProfiles',
    summary: 'Tables with their profiles and modes',
    request: { query: tableOnlyQuery },
    responses: { 200: json(profilesAnswer, 'In the order of the configuration.'), ...readProblems },
  })
  api.openapi(profiles, async (c) => {
    const found = valueOf(await listProfiles(contextOf(c), c.req.valid('query')))
    return c.json({ ...envelopeOf({ now: await clock.now() }), profiles: found.map(toWireProfile) }, 200)
  })
}
