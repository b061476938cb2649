import { commandNames, refusalOf } from '../../commands/permissions.ts'
import { readHealth } from '../../commands/queue-control-commands.ts'
import { type Api, type ApiParts, contextOf, envelopeOf, json, readProblems } from '../api.ts'
import { configAnswer, doctorAnswer, healthAnswer, meAnswer, tableOnlyQuery } from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { packageVersion } from '../package-version.ts'
import { ApiProblem, problemOf, valueOf } from '../problem.ts'
import { toWireHealth } from '../wire/jobs.ts'

export function addServerRoutes(api: Api, parts: ApiParts): void {
  addHealth(api, parts)
  addMe(api, parts)
  addConfig(api, parts)
  addDoctor(api, parts)
}

function addHealth(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/health',
    operationId: 'readHealth',
    summary: 'Health of the tables, computed from their rows',
    request: { query: tableOnlyQuery },
    responses: { 200: json(healthAnswer, 'One entry per table.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const found = valueOf(await readHealth(contextOf(c), c.req.valid('query')))
    const tables = found.map(({ table, value }) => toWireHealth(value, table))
    const isHealthy = tables.every((table) => table.is_healthy)
    return c.json({ ...envelopeOf({ now: await clock.now() }), is_healthy: isHealthy, tables }, 200)
  })
}

function addMe(api: Api, { clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/me',
    operationId: 'readMe',
    summary: 'The caller and its permissions',
    responses: { 200: json(meAnswer, 'With the reason for each refusal.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const context = contextOf(c)
    const { actor, isReadOnly } = context
    const commands = commandNames.map((name) => {
      const refusal = refusalOf(name, context)
      return [name, { is_allowed: refusal === null, reason: refusal?.detail ?? null }] as const
    })
    return c.json(
      {
        ...envelopeOf({ now: await clock.now() }),
        id: actor.id,
        scopes: [...actor.scopes],
        owner: actor.owner ?? null,
        is_read_only: isReadOnly,
        commands: Object.fromEntries(commands),
      },
      200,
    )
  })
}

function addConfig(api: Api, { options, clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/config',
    operationId: 'readConfig',
    summary: 'Every setting with its source; secrets are masked',
    responses: { 200: json(configAnswer, 'The configuration of this server.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const context = contextOf(c)
    const refusal = refusalOf('readConfig', context)
    if (refusal !== null) throw problemOf(refusal)
    const { config, tables, environment } = options
    return c.json(
      {
        ...envelopeOf({ now: await clock.now() }),
        version: packageVersion,
        profile: config?.profile ?? 'native',
        schema: config?.schema ?? 'unstuck',
        tables: tables.map(({ name }) => name),
        environment: environment ?? null,
        is_read_only: context.isReadOnly,
        values: (config?.values ?? []).map(({ name, value, source }) => ({ name, value, source })),
      },
      200,
    )
  })
}

function addDoctor(api: Api, { options, clock }: ApiParts): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/doctor',
    operationId: 'runDoctor',
    summary: 'Check the installation, the tables and the server; read-only',
    responses: { 200: json(doctorAnswer, 'Problems come with a fix.'), ...readProblems },
  })
  api.openapi(route, async (c) => {
    const refusal = refusalOf('runDoctor', contextOf(c))
    if (refusal !== null) throw problemOf(refusal)
    if (options.runDoctor === undefined)
      throw new ApiProblem('NOT_FOUND', 'this server has no doctor: use `unstuck doctor`')
    const findings = await options.runDoctor()
    const count = (level: string) => findings.filter((finding) => finding.level === level).length
    const counts = { problems: count('problem'), warnings: count('warning') }
    return c.json({ ...envelopeOf({ now: await clock.now() }), ...counts, findings }, 200)
  })
}
