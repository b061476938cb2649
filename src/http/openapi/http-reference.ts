// The page docs/reference/http.md, made from the contract.
import { commandRules } from '../../commands/permissions.ts'
import type { AccessStore } from '../../store/access-store.ts'
import type { JobStore } from '../../store/job-store.ts'
import { buildApp, documentInfo } from '../app.ts'

interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> }
  responses: Record<string, unknown>
}

const INTRODUCTION = `<!-- Generated from src/http by \`npm run docs:generate\`. Change the contract there. -->
# HTTP API

\`unstuck serve\` serves it, and \`createApp()\` of \`unstuck/http\` mounts it in an application: see the
[guide](../guides/http-api.md). The whole contract with every field is at \`/openapi.json\` (OpenAPI 3.1), and to read at
\`/docs\`.

- Names are snake_case, times RFC 3339 in UTC, 64-bit numbers text. Every answer has \`db_now\`, the database's time.
- A list goes on with \`next_cursor\`; there are no page numbers.
- A refusal is \`application/problem+json\` (RFC 9457): \`code\` is one of [Errors](errors.md), \`detail\` one line.
- \`Idempotency-Key\` on a POST: sent again within a day, it is answered as the first time; with another body it is 422.
- \`If-Match\` with the ETag of a job, its generation: 412 if somebody was faster.
- An unknown field or parameter is refused, so that a typo is not silently without effect.

## Operations

The scope is what a token needs ([roles](../guides/http-api.md#roles-and-scopes)). _Own_ means that a token of one owner may
use it, for jobs of its own.
`

/** Nothing is called while routes are added, so nothing has to be there to call. */
export function describeApi() {
  const nothing = { tables: [{ name: 'jobs', store: {} as JobStore }], access: {} as AccessStore } as const
  return buildApp(nothing).api.getOpenAPI31Document(documentInfo)
}

export function renderHttpReference(): string {
  const paths = describeApi().paths as Record<string, Record<string, Operation>>
  const rows = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => cellsOf(method, path, operation)),
  )
  const head = ['Request', 'What', 'Operation', 'Scope', 'Takes', 'Answers']
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  )
  const rule = widths.map((width) => '-'.repeat(width))
  const table = [head, rule, ...rows].map(
    (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
  return `${INTRODUCTION}\n${table.join('\n')}\n`
}

function cellsOf(method: string, path: string, operation: Operation): string[] {
  const { operationId, summary, parameters = [], responses } = operation
  const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => `\`${name}\``)
  const body = Object.values(operation.requestBody?.content ?? {})[0]
    ?.schema.$ref?.split('/')
    .at(-1)
  const takes = [...(body === undefined ? [] : [body]), ...query].join(', ')
  const answers = Object.keys(responses).filter((status) => status < '300')
  return [
    `\`${method.toUpperCase()} ${path}\``,
    summary.replaceAll('|', '\\|'),
    `\`${operationId}\``,
    scopeOf(operationId),
    takes,
    answers.join(', '),
  ]
}

/** Operations that are not named after their command. */
const commandOf: Record<string, keyof typeof commandRules> = {
  listEvents: 'readEvents',
  listAttempts: 'readEvents',
  retryOwnJob: 'retryJob',
  readDeadLetters: 'listDeadLetters',
  readOperation: 'listOperations',
  listOperationJobs: 'listOperations',
}

function scopeOf(operationId: string): string {
  if (operationId === 'stream') return 'that of each topic'
  const name = commandOf[operationId] ?? operationId
  if (!Object.hasOwn(commandRules, name)) return '–'
  const { scope, isForOwners } = commandRules[name as keyof typeof commandRules]
  return isForOwners ? `\`${scope}\`, own` : `\`${scope}\``
}
