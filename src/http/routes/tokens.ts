import { createTokenCommands } from '../../commands/token-commands.ts'
import {
  type Api,
  type ApiParts,
  contextOf,
  envelopeOf,
  json,
  jsonBody,
  readProblems,
  writeProblems,
} from '../api.ts'
import { nameParam, newTokenAnswer, newTokenBody, tokenAnswer, tokensAnswer } from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { valueOf } from '../problem.ts'
import { toWireToken } from '../wire/jobs.ts'

export function addTokenRoutes(api: Api, { options, clock }: ApiParts): void {
  const { createToken, listTokens, revokeToken } = createTokenCommands(options.access)
  const now = async () => envelopeOf({ now: await clock.now() })

  const list = createRoute({
    method: 'get',
    path: '/v1/tokens',
    operationId: 'listTokens',
    summary: 'Tokens, without their secrets',
    responses: { 200: json(tokensAnswer, 'Oldest first.'), ...readProblems },
  })
  api.openapi(list, async (c) => {
    const tokens = valueOf(await listTokens(contextOf(c), undefined))
    return c.json({ ...(await now()), tokens: tokens.map(toWireToken) }, 200)
  })

  const create = createRoute({
    method: 'post',
    path: '/v1/tokens',
    operationId: 'createToken',
    summary: 'Create a token; the secret is in this answer only',
    request: jsonBody(newTokenBody, true),
    responses: { 201: json(newTokenAnswer, 'Store the secret: it cannot be shown again.'), ...writeProblems },
  })
  api.openapi(create, async (c) => {
    const { name, role, scopes, owner, expires_in_ms: expiresInMs } = c.req.valid('json')
    const input = { name, role, scopes, owner, expiresInMs }
    const { token, secret } = valueOf(await createToken(contextOf(c), input))
    return c.json({ ...(await now()), token: toWireToken(token), secret }, 201)
  })

  const revoke = createRoute({
    method: 'delete',
    path: '/v1/tokens/{name}',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    request: { params: nameParam },
    responses: { 200: json(tokenAnswer, 'The token is refused from now on.'), ...writeProblems },
  })
  api.openapi(revoke, async (c) => {
    const token = valueOf(await revokeToken(contextOf(c), c.req.valid('param').name))
    return c.json({ ...(await now()), token: toWireToken(token) }, 200)
  })
}
