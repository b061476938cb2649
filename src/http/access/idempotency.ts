// A request with an Idempotency-Key runs once; a repetition gets the first answer. Only successes are stored: a refusal
// changed nothing, so the key can be used again.
import { createHash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import type { AccessStore } from '../../store/access-store.ts'
import { type ApiEnv, contextOf } from '../api.ts'
import { ApiProblem } from '../problem.ts'

/** Answers with credentials are never stored. */
const EXCLUDED = /\/v1\/(?:(?:leases|tokens|session)(?:\/|$)|webhooks$)/

export function idempotency(access: AccessStore): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (key === undefined || c.req.method !== 'POST' || EXCLUDED.test(c.req.path)) return next()
    if (!/^[\x21-\x7e]{1,255}$/.test(key))
      throw new ApiProblem('INVALID_ARGUMENT', 'Idempotency-Key must have 1 to 255 visible characters')
    const { id, owner } = contextOf(c).actor
    const request = { actor: owner === undefined ? id : `${id} ${owner}`, key }
    const url = new URL(c.req.url)
    const text = `${c.req.method} ${url.pathname}${url.search}\n${await c.req.text()}`
    const sha256 = createHash('sha256').update(text).digest('hex')
    const begun = await access.beginRequest({ ...request, sha256 })
    switch (begun.outcome) {
      case 'reused':
        throw new ApiProblem('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key was used for another request')
      case 'in-progress':
        throw new ApiProblem(
          'REQUEST_IN_PROGRESS',
          'the request with this Idempotency-Key is in progress',
          {},
          { 'retry-after': '1' },
        )
      case 'answered': {
        const headers = { 'content-type': 'application/json', 'idempotency-replayed': 'true' }
        return new Response(begun.answer, { status: begun.status, headers })
      }
      case 'begun':
        await next()
        if (c.res.ok)
          await access.finishRequest({ ...request, status: c.res.status, answer: await c.res.clone().text() })
        else await access.forgetRequest(request)
        return undefined
    }
  }
}
