import type { Row } from '../connection/executor.ts'

// Values of a row as any driver returns them: numbers may come as text, and times as text or Date.
export const text = (value: unknown) => (value ?? null) as string | null
export const numberOrNull = (value: unknown) => (value === null || value === undefined ? null : Number(value))
export const date = (value: unknown) => (value instanceof Date ? value : new Date(value as string))
export const dateOrNull = (value: unknown) => (value === null || value === undefined ? null : date(value))

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
export const storable = (message: string) => message.toWellFormed().replaceAll('\0', '\uFFFD')

/** Fields are camelCase in TypeScript, columns snake_case in SQL. */
export const columnOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const fieldOf = (column: string) => column.replaceAll(/_[a-z]/g, (part) => part.slice(1).toUpperCase())

/** A list of column names, as JSON. */
export const fieldsOf = <Field extends string>(columns: unknown) =>
  ((columns ?? []) as string[]).map(fieldOf) as Field[]

/** A row that PostgreSQL returned as JSON, with camelCase names. The fields in `times` become dates. */
export function fromRecord<T>(record: Row, times: readonly (keyof T & string)[] = [], omitted?: string): T {
  const isTime = new Set<string>(times)
  const entries = Object.entries(record)
    .filter(([column]) => column !== omitted)
    .map(([column, value]) => {
      const field = fieldOf(column)
      return [field, isTime.has(field) ? dateOrNull(value) : value]
    })
  return Object.fromEntries(entries) as T
}

/** The same for a nested record, which may be missing. */
export function fromRecordOrNull<T>(record: unknown): T | null {
  return record === null || record === undefined ? null : fromRecord<T>(record as Row)
}
