// Generates the types of `unstuck/client` from the contract.
import { describeApi } from './http-reference.ts'

/** The part of JSON schema that the document uses. */
interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
}

interface Content {
  content?: Record<string, { schema?: Schema }>
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: Content & { required?: boolean }
  responses: Record<string, Content>
}

const HEAD = `// Generated from the contract of the HTTP API by \`npm run docs:generate\`. Change src/http/contract and the routes.
`

export function renderClientSource(): string {
  const { paths, components } = describeApi() as unknown as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `  ${keyOf(name)}: ${typeOf(schema)}\n`,
  )
  const operations = all.map(({ operation }) => `  ${operation.operationId}: ${requestOf(operation)}\n`)
  const routes = all.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],\n`,
  )
  return [
    HEAD,
    `export interface Schemas {\n${schemas.join('')}}\n`,
    `export interface Operations {\n${operations.join('')}}\n`,
    `export const routes = {\n${routes.join('')}} as const satisfies Record<keyof Operations, readonly [string, string]>\n`,
  ].join('\n')
}

function requestOf({ parameters = [], requestBody, responses }: Operation): string {
  const parts: string[] = []
  for (const [part, place] of [
    ['params', 'path'],
    ['query', 'query'],
    ['headers', 'header'],
  ] as const) {
    const own = parameters.filter((parameter) => parameter.in === place)
    if (own.length === 0) continue
    const fields = own.map(
      ({ name, required, schema = {} }) => `${keyOf(name)}${required === true ? '' : '?'}: ${typeOf(schema)}`,
    )
    const isNeeded = own.some(({ required }) => required === true)
    parts.push(`${part}${isNeeded ? '' : '?'}: { ${fields.join('; ')} }`)
  }
  const body = requestBody?.content?.['application/json']?.schema
  if (body !== undefined) parts.push(`body${requestBody?.required === true ? '' : '?'}: ${typeOf(body)}`)
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content = {} }]) => {
      const [type, { schema = {} } = {}] = Object.entries(content)[0] ?? []
      return type === undefined ? 'null' : type === 'application/json' ? typeOf(schema) : 'string'
    })
  parts.push(`answer: ${[...new Set(answers)].join(' | ')}`)
  return `{ ${parts.join('; ')} }`
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `Schemas['${schema.$ref.split('/').at(-1)}']`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((word) => JSON.stringify(word)).join(' | ')
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return either.map((one) => grouped(typeOf(one))).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((one) => grouped(typeOf(one))).join(' & ')
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  return types.map((type) => typeOfKind(type, schema)).join(' | ')
}

function typeOfKind(type: string | undefined, schema: Schema): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return type
    case 'integer':
      return 'number'
    case 'array':
      return `${grouped(typeOf(schema.items ?? {}))}[]`
    case 'object':
      return objectOf(schema)
    default:
      return 'unknown'
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  return typeof additionalProperties === 'object'
    ? `Record<string, ${typeOf(additionalProperties)}>`
    : 'Record<string, unknown>'
}

const keyOf = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`)
const grouped = (type: string) => (/ [|&] /.test(type) ? `(${type})` : type)
