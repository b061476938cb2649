// Generates docs/reference/http.md from the contract.
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
[guide](../guides/interfaces/http-api.md). Every field is in \`/openapi.json\` (OpenAPI 3.1), rendered at
\`/docs\`.

- Fields are snake_case, times RFC 3339 in UTC, 64-bit numbers strings. Every answer has \`db_now\`, the database time.
- Lists are paged with \`next_cursor\`; there are no page numbers.
- A refusal is \`application/problem+json\` (RFC 9457): \`code\` is one of [Errors](errors.md), \`detail\` one line.
- \`Idempotency-Key\` on a POST: a repetition within a day gets the first answer; with another body it is 422.
- \`If-Match\` with the ETag of a job, its generation: 412 if the job changed since.
- An unknown field or parameter is refused: a typo is never ignored.

## Operations

A token needs the scope ([roles](../guides/interfaces/http-api.md#roles-and-scopes)). _Own_: a token limited to one owner may use it for
that owner's jobs.
`

/** Adding routes calls nothing, so the parts may be missing. */
export function describeApi() {
  const nothing = { tables: [{ name: 'jobs', store: {} as JobStore }], access: {} as AccessStore } as const
  return buildApp(nothing).api.getOpenAPI31Document(documentInfo)
}

export function renderHttpReference(): string {
  const paths = describeApi().paths as Record<string, Record<string, Operation>>
  const rows = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => cellsOf(method, path, operation)),
  )
  const head = ['Request', 'Description', 'Operation', 'Scope', 'Parameters', 'Status']
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

/** Operations with another name than their command. */
const commandOf: Record<string, keyof typeof commandRules> = {
  listEvents: 'readEvents',
  listAttempts: 'readEvents',
  retryOwnJob: 'retryJob',
  readDeadLetters: 'listDeadLetters',
  readOperation: 'listOperations',
  listOperationJobs: 'listOperations',
}

function scopeOf(operationId: string): string {
  if (operationId === 'stream') return 'per topic'
  const name = commandOf[operationId] ?? operationId
  if (!Object.hasOwn(commandRules, name)) return '–'
  const { scope, isForOwners } = commandRules[name as keyof typeof commandRules]
  return isForOwners ? `\`${scope}\`, own` : `\`${scope}\``
}
