// `unstuck/client`: the HTTP API with the types of its contract, for Node, Bun, Deno and browsers. It imports nothing.
import { type Operations, routes, type Schemas } from './operations.generated.ts'

export type { Operations, Schemas } from './operations.generated.ts'

export type OperationName = keyof Operations
export type Problem = Schemas['Problem']

/** Input of an operation: `params` of its path, `query`, `headers` and `body`. */
export type Input<Name extends OperationName> = Omit<Operations[Name], 'answer'>

/** A refusal is a value: the caller decides what a lost lease or a missing job means. */
export type Reply<Value> =
  | { isDone: true; status: number; value: Value }
  | { isDone: false; status: number; problem: Problem }

type Args<Name extends OperationName> =
  Record<string, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]

export interface Client {
  /** Throws without an answer, or if the answer is not from this API. */
  call<Name extends OperationName>(
    name: Name,
    ...args: Args<Name>
  ): Promise<Reply<Operations[Name]['answer']>>
}

export interface ClientOptions {
  /** Includes the path of the mount, such as `https://ops.example/unstuck`. */
  baseUrl: string
  token?: string
  /** Default: the runtime's fetch. `app.fetch` of `createApp` needs no network. */
  fetch?: (request: Request) => Promise<Response> | Response
}

interface Sent {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  headers?: Record<string, string>
  body?: unknown
}

export function createClient({ baseUrl, token, fetch: send = fetch }: ClientOptions): Client {
  return {
    async call(name, ...args) {
      const response = await send(requestOf(name, args[0] ?? {}, baseUrl, token))
      return (await replyOf(response)) as Reply<never>
    },
  }
}

function requestOf(name: OperationName, sent: Sent, baseUrl: string, token: string | undefined): Request {
  const [method, template] = routes[name]
  const { params = {}, query = {}, headers = {}, body } = sent
  const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => pathPart(params[part] ?? ''))
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`)
  for (const [key, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(key, String(value))
  return new Request(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** URL parsers resolve a segment of dots, escaped or not. */
function pathPart(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new Error(`${JSON.stringify(value)} cannot be a path segment`)
  return encodeURIComponent(value)
}

async function replyOf(response: Response): Promise<Reply<unknown>> {
  const { status } = response
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  if (type === 'application/problem+json')
    return { isDone: false, status, problem: (await response.json()) as Problem }
  if (!response.ok) throw new Error(`${status} without a problem: this is not the API of unstuck`)
  const value: unknown =
    type === '' ? null : type.endsWith('json') ? await response.json() : await response.text()
  return { isDone: true, status, value }
}
