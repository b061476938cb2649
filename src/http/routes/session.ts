// A browser keeps its token in an HttpOnly cookie: an EventSource cannot send headers.

import { type Authenticate, SESSION_COOKIE } from '../access/authenticate.ts'
import { requireOwnPage } from '../access/guards.ts'
import { type Api, type ApiParts, envelopeOf, json, jsonBody, peerOf, writeProblems } from '../api.ts'
import { meAnswer, sessionBody } from '../contract/index.ts'
import { createRoute } from '../openapi/zod-openapi.ts'

const AGE_SEC = 12 * 3600

/** Before authentication: this is the sign-in. */
export function addSessionRoutes(api: Api, { options, clock }: ApiParts, authenticate: Authenticate): void {
  const path = `${options.basePath ?? ''}/`
  const cookie = (url: string, value: string, ageSec: number) => {
    const secure = url.startsWith('https:') ? '; Secure' : ''
    return `${SESSION_COOKIE}=${value}; Path=${path}; Max-Age=${ageSec}; HttpOnly; SameSite=Strict${secure}`
  }

  const begin = createRoute({
    method: 'post',
    path: '/v1/session',
    operationId: 'beginSession',
    summary: 'Sign in: store a token in a cookie',
    request: jsonBody(sessionBody, true),
    responses: {
      200: json(meAnswer.pick({ db_now: true, id: true, scopes: true, owner: true }), 'The cookie is set.'),
      ...writeProblems,
    },
  })
  api.openapi(begin, async (c) => {
    const { token } = c.req.valid('json')
    const request = new Request(c.req.url, { headers: { authorization: `Bearer ${token}` } })
    // Another site's page must not sign a browser in.
    requireOwnPage(c.req.raw, { actor: { id: '', scopes: [] }, isAmbient: true })
    const { actor } = await authenticate(request, peerOf(c))
    c.header('set-cookie', cookie(c.req.url, token, AGE_SEC))
    const { id, scopes, owner = null } = actor
    return c.json({ ...envelopeOf({ now: await clock.now() }), id, scopes: [...scopes], owner }, 200)
  })

  const end = createRoute({
    method: 'delete',
    path: '/v1/session',
    operationId: 'endSession',
    summary: 'Sign out: delete the cookie',
    responses: { 204: { description: 'The cookie is deleted.' }, ...writeProblems },
  })
  api.openapi(end, (c) => {
    requireOwnPage(c.req.raw, { actor: { id: '', scopes: [] }, isAmbient: true })
    c.header('set-cookie', cookie(c.req.url, '', 0))
    return c.body(null, 204)
  })
}
