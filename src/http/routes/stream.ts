import { type CommandName, refusalOf } from '../../commands/permissions.ts'
import { type Api, type ApiParts, contextOf, peerOf, readProblems, sightOf } from '../api.ts'
import { type StreamTopic, streamQuery, streamTopics } from '../contract/index.ts'
import { z } from '../openapi/zod.ts'
import { createRoute } from '../openapi/zod-openapi.ts'
import { ApiProblem, problemOf } from '../problem.ts'
import { openEventStream } from '../stream/event-stream.ts'
import { MAX_PLACE_LENGTH, readPlace, type StreamPlace } from '../stream/stream-place.ts'

const commandOf: Readonly<Record<StreamTopic, CommandName>> = {
  leases: 'listLeases',
  events: 'readEvents',
  counts: 'readHealth',
  breakers: 'listBreakers',
}

const isTopic = (word: string): word is StreamTopic => (streamTopics as readonly string[]).includes(word)

export function addStreamRoute(
  api: Api,
  { feed, clock, streams, options }: ApiParts,
  signal: AbortSignal,
): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/stream',
    operationId: 'stream',
    summary: 'Live stream (server-sent events)',
    description:
      'Messages are named after their topic, or `stale` if the database could not be read. Those of `events` have an ' +
      'id: send the last one as `Last-Event-ID` to resume. A comment is sent every 15 s; ' +
      'after 10 minutes the stream ends and the client reconnects. It ends at once for a client that does not read, and within ' +
      'seconds after its token was revoked. A caller may open 64 streams; one more is 429.',
    request: {
      query: streamQuery,
      headers: z.object({ 'last-event-id': z.string().max(MAX_PLACE_LENGTH).optional() }),
    },
    responses: {
      200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
      ...readProblems,
    },
  })
  api.openapi(route, (c) => {
    const context = contextOf(c)
    const wanted = c.req.valid('query').topics?.split(',')
    const unknown = wanted?.find((word) => !isTopic(word))
    if (unknown !== undefined)
      throw new ApiProblem(
        'INVALID_ARGUMENT',
        `topics: must be any of ${streamTopics.join(', ')}, separated by commas`,
      )
    const refusal = (topic: StreamTopic) => refusalOf(commandOf[topic], context)
    for (const topic of wanted?.filter(isTopic) ?? []) {
      const refused = refusal(topic)
      if (refused !== null) throw problemOf(refused)
    }
    const topics = new Set(wanted?.filter(isTopic) ?? streamTopics.filter((topic) => refusal(topic) === null))
    const [first] = streamTopics
    if (topics.size === 0)
      throw problemOf(refusal(first) ?? { code: 'FORBIDDEN', detail: 'no topic is allowed' })
    const headers = {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    }
    const place = readLastEventId(c.req.valid('header')['last-event-id'])
    if (c.req.raw.method === 'HEAD') return new Response(null, { headers })
    const { actor } = context
    const refused = new AbortController()
    const onEnd = streams.enter({ request: c.req.raw, peer: peerOf(c), actor }, () => refused.abort())
    const stream = openEventStream({
      feed,
      clock,
      actor,
      topics,
      view: { redact: options.redact ?? {}, ...sightOf(actor) },
      place,
      signal: AbortSignal.any([signal, c.req.raw.signal]),
      refused: refused.signal,
      onEnd,
      disconnect: c.env.disconnect ?? null,
    })
    return new Response(stream, { headers })
  })
}

function readLastEventId(header: string | undefined): StreamPlace | null {
  if (header === undefined || header === '') return null
  const place = readPlace(header)
  if (place !== null) return place
  throw new ApiProblem('INVALID_ARGUMENT', 'Last-Event-ID must be the id of a message of this stream')
}
