// Values of a row as any driver returns them: numbers may come as text, and times as text or Date.
export const text = (value: unknown) => (value ?? null) as string | null
export const numberOrNull = (value: unknown) => (value === null || value === undefined ? null : Number(value))
export const date = (value: unknown) => (value instanceof Date ? value : new Date(value as string))
export const dateOrNull = (value: unknown) => (value === null || value === undefined ? null : date(value))

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
export const storable = (message: string) => message.toWellFormed().replaceAll('\0', '\uFFFD')

/** `camelCase` in TypeScript, `snake_case` in SQL. */
export const columnOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
