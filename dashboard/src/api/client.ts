// Requests to the server of the page. Addresses are relative to <base>, so any base path works.
import type { Problem } from '../../../src/http/contract/index.ts'

/** A failed answer of the server, or no answer (`status` 0). */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  readonly status: number
  readonly problem: Partial<Problem>
  /** Set after too many requests. */
  readonly retryAfterMs: number | null

  constructor(
    status: number,
    problem: Partial<Problem>,
    options: ErrorOptions & { retryAfterMs?: number | null } = {},
  ) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`, options)
    this.status = status
    this.problem = problem
    this.retryAfterMs = options.retryAfterMs ?? null
  }

  get isSignedOut(): boolean {
    return this.status === 401
  }

  /** Refusals and unsupported requests do not change: no retry. */
  get isFinal(): boolean {
    return (this.status >= 400 && this.status < 500) || this.problem.code === 'NOT_SUPPORTED'
  }

  get isMissing(): boolean {
    return this.status === 404
  }
}

export function apiAddress(path: string): string {
  return new URL(path, document.baseURI).toString()
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export async function request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  const headers: Record<string, string> = { accept: 'application/json' }
  // A form of another site cannot send this header: it protects the cookie against CSRF.
  if (method !== 'GET') headers['x-unstuck'] = '1'
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(apiAddress(path), {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch (error) {
    throw new RequestProblem(0, { detail: 'The server does not answer.' }, { cause: error })
  }
  if (!response.ok) {
    const retryAfter = response.headers.get('retry-after')
    const retryAfterMs = retryAfter === null ? null : Number(retryAfter) * 1_000
    throw new RequestProblem(response.status, await readProblem(response), { retryAfterMs })
  }
  return response.status === 204 ? (undefined as Answer) : ((await response.json()) as Answer)
}

async function readProblem(response: Response): Promise<Partial<Problem>> {
  try {
    return (await response.json()) as Partial<Problem>
  } catch {
    return { detail: `The server answered ${response.status} ${response.statusText}`.trim() }
  }
}

/** `?a=1&b=2`, without undefined values. */
export function queryOf(values: Record<string, string | number | null | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

export function messageOf(error: unknown): string {
  if (error instanceof RequestProblem) {
    const { hint } = error.problem
    return hint === undefined ? error.message : `${error.message} ${hint}`
  }
  return error instanceof Error ? error.message : String(error)
}
