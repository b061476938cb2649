// Shared by all routes: types, documented problems and the caller's view.
import type { Context } from 'hono'
import type { Actor } from '../commands/actor.ts'
import type { CommandContext } from '../commands/command.ts'
import type { OperationRunner } from '../runtime/operations/operation-runner.ts'
import type { AppOptions } from './app-options.ts'
import { problemSchema } from './contract/index.ts'
import { z } from './openapi/zod.ts'
import type { OpenAPIHono } from './openapi/zod-openapi.ts'
import { ApiProblem } from './problem.ts'
import type { DatabaseClock } from './stream/database-clock.ts'
import type { LiveFeed } from './stream/live-feed.ts'
import type { OpenStreams } from './stream/open-streams.ts'
import type { View } from './wire/jobs.ts'

export interface ApiEnv {
  Bindings: { peer?: string | null; disconnect?: (() => void) | null }
  Variables: { context: CommandContext }
}

export type Api = OpenAPIHono<ApiEnv>

export interface ApiParts {
  options: AppOptions
  clock: DatabaseClock
  runner: OperationRunner
  feed: LiveFeed
  streams: OpenStreams
}

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: problemSchema } },
})

const everywhere = {
  400: problem('The request is invalid.'),
  401: problem('No valid token.'),
  403: problem('Missing permission, or a read-only server.'),
  429: problem('Too many requests.'),
  500: problem('A bug.'),
  501: problem('Not supported by this store.'),
  503: problem('Database unreachable.'),
}

const others = {
  404: problem('Not found, or not visible to the caller.'),
  409: problem('The current state does not allow this.'),
  412: problem('`If-Match` or `expect` does not match.'),
  413: problem('The body is too large.'),
  415: problem('The body is not JSON.'),
  422: problem('The idempotency key was used for another request.'),
}

export const readProblems = { ...everywhere, 404: others[404] }
export const writeProblems = { ...everywhere, ...others }

export const json = <Schema>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})

export const jsonBody = <Schema>(schema: Schema, isRequired: boolean) => ({
  body: { content: { 'application/json': { schema } }, required: isRequired },
})

/** The generation of the job as the caller read it: `"3"`. */
export const writeHeaders = z.object({
  'if-match': z.string().max(40).optional(),
  'idempotency-key': z.string().max(255).optional(),
})

export function readGeneration(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined
  const [, digits] = /^(?:W\/)?"(\d{1,9})"$/.exec(ifMatch) ?? []
  if (digits !== undefined) return Number(digits)
  throw new ApiProblem(
    'INVALID_ARGUMENT',
    'If-Match must be the generation of the job in double quotes, such as "3"',
  )
}

export const etagOf = ({ generation }: { generation: number }) => `"${generation}"`

export const peerOf = ({ env }: Pick<Context<ApiEnv>, 'env'>): string | null => env.peer ?? null

export const contextOf = (c: Context<ApiEnv>): CommandContext => c.get('context')

export async function viewOf(c: Context<ApiEnv>, { options, clock }: ApiParts): Promise<View> {
  return { now: await clock.now(), redact: options.redact ?? {}, ...sightOf(contextOf(c).actor) }
}

/** The parts of a job that the caller may see. */
export function sightOf({ scopes, owner }: Actor): Pick<View, 'hasPayloads' | 'isOwner'> {
  return { hasPayloads: scopes.includes('jobs:payload'), isOwner: owner !== undefined }
}

export const envelopeOf = (view: Pick<View, 'now'>) => ({ db_now: view.now.toISOString() })
