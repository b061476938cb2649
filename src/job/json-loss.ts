// Finds the first value that JSON would silently drop or change, and where it is.

interface JsonLoss {
  path: PropertyKey[]
  /** The kind of the value, never the value. */
  kind: string
  takes: string
}

/** Values with a `toJSON`, such as dates, are judged by what it returns. Throws what a getter or a `toJSON` throws. */
export function findJsonLoss(value: unknown): JsonLoss | undefined {
  const path: PropertyKey[] = []
  const reason = lossIn(value, path, new Set())
  return reason === undefined ? undefined : { path, ...reason }
}

/** `.items[2]["x-y"]`: keys, never values. */
export function showPath(path: readonly PropertyKey[]): string {
  return path.map(showKey).join('')
}

function showKey(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`
  const text = String(key)
  return /^[A-Za-z_$][\w$]*$/.test(text) ? `.${text}` : `[${JSON.stringify(text.slice(0, 40))}]`
}

type Reason = Omit<JsonLoss, 'path'>

/** At the end `path` leads to the loss; `above` holds the objects on the way, to find cycles. */
function lossIn(given: unknown, path: PropertyKey[], above: Set<object>): Reason | undefined {
  // JSON writes it as null.
  if (isDate(given) && Number.isNaN(given.getTime())) return { kind: 'an invalid Date', takes: 'a valid one' }
  const value = asJsonDoes(given, path)
  if (typeof value !== 'object' || value === null) return valueLoss(value)
  const own = objectLoss(value, above)
  if (own !== undefined) return own
  above.add(value)
  const isArray = Array.isArray(value)
  // An array by index: its entries leave out holes, which JSON writes as null.
  const entries = isArray
    ? Array.from(value, (item: unknown, index) => [index, item] as const)
    : Object.entries(value)
  for (const [key, inner] of entries) {
    if (inner === undefined && !isArray) continue
    path.push(key)
    const found = inner === undefined ? IN_ARRAY : lossIn(inner, path, above)
    if (found !== undefined) return found
    path.pop()
  }
  above.delete(value)
  return undefined
}

const IN_ARRAY: Reason = { kind: 'undefined in an array', takes: 'null or data' }

function asJsonDoes(value: unknown, path: PropertyKey[]): unknown {
  if ((typeof value !== 'object' && typeof value !== 'bigint') || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, String(path.at(-1) ?? '')) as unknown) : value
}

function valueLoss(value: unknown): Reason | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : { kind: String(value), takes: 'a finite number' }
    case 'bigint':
      return { kind: 'a bigint', takes: 'a number or a text' }
    case 'function':
    case 'symbol':
    case 'undefined':
      return { kind: typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`, takes: 'data' }
    default:
      return undefined
  }
}

function objectLoss(value: object, above: ReadonlySet<object>): Reason | undefined {
  if (above.has(value)) return { kind: 'an object that contains itself', takes: 'data without cycles' }
  if (Array.isArray(value) || isPlainObject(value)) return undefined
  if (tagOf(value) === 'Map') return { kind: 'a Map', takes: 'plain data, such as Object.fromEntries(map)' }
  if (tagOf(value) === 'Set') return { kind: 'a Set', takes: 'an array, such as [...set]' }
  return {
    kind: `an instance of ${className(value)}`,
    takes: 'plain data, such as { ...value }, or an object with toJSON()',
  }
}

/** From any realm. */
export function isDate(value: unknown): value is Date {
  return tagOf(value) === 'Date'
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

/** From any realm: its prototype is null or has none itself. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

function className({ constructor }: object): string {
  const name = typeof constructor === 'function' ? constructor.name : ''
  return /^[\w$]{1,60}$/.test(name) ? name : 'a class'
}
