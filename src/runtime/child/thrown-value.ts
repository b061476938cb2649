// Serializes a thrown value for another process, so that classifyError classifies it there as it would here.

/** A primitive as it is, or the fields of an object that classifyError reads. */
export type PackedThrown =
  | { kind: 'value'; value: string | number | bigint | boolean | null | undefined }
  | {
      kind: 'object'
      isError: boolean
      fields: Record<string, string | number | boolean>
      cause?: PackedThrown
    }

const FIELDS = [
  'name',
  'message',
  'stack',
  'code',
  'category',
  'isCausedByUser',
  'retryAfterMs',
  'retryAfter',
  'gatewayStatus',
  'release',
] as const
// Nothing reads deeper, and a cycle has to end somewhere.
const MAX_CAUSES = 5

/** Never throws: any thrown value must arrive. */
export function packThrown(thrown: unknown, depth = MAX_CAUSES): PackedThrown {
  if (typeof thrown === 'symbol' || typeof thrown === 'function')
    return { kind: 'value', value: `a ${typeof thrown} was thrown` }
  if (typeof thrown !== 'object' || thrown === null)
    return { kind: 'value', value: thrown as string | number | bigint | boolean | null | undefined }
  const fields: Record<string, string | number | boolean> = {}
  for (const name of FIELDS) {
    const value = read(thrown, name)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      fields[name] = value
  }
  // An AggregateError is classified by its first error.
  const first = fields['name'] === 'AggregateError' ? read(read(thrown, 'errors'), 0) : undefined
  const cause = first ?? read(thrown, 'cause')
  const hasCause = cause !== undefined && cause !== null && depth > 1
  return {
    kind: 'object',
    isError: fields['stack'] !== undefined,
    fields,
    ...(hasCause ? { cause: packThrown(cause, depth - 1) } : {}),
  }
}

export function unpackThrown(packed: PackedThrown): unknown {
  if (packed.kind === 'value') return packed.value
  const cause = packed.cause === undefined ? undefined : unpackThrown(packed.cause)
  const target: object = packed.isError ? new Error() : {}
  for (const [name, value] of Object.entries(packed.fields)) define(target, name, value)
  if (cause !== undefined) define(target, 'cause', cause)
  if (packed.fields['name'] === 'AggregateError') define(target, 'errors', [cause])
  return target
}

/** Not enumerable, as in native errors: a logger would print the stack twice. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, enumerable: false, writable: true })
}

/** Tolerates a revoked proxy and a getter that throws. */
function read(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    return (value as Record<PropertyKey, unknown>)[key]
  } catch {
    return undefined
  }
}
