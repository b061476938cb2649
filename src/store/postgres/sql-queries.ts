// The statements of sql/queries, by name. A file holds those of one port, each after a line `-- name: …`.
import { readSqlFolder } from './sql-files.ts'

let statements: Map<string, string> | undefined

export function readQuery(name: string): string {
  statements ??= new Map(readSqlFolder('queries').flatMap(({ text }) => namedStatements(text)))
  const statement = statements.get(name)
  if (statement === undefined) throw new Error(`sql/queries has no statement named ${name}`)
  return statement
}

/** Without leading comments and the final semicolon. */
export function namedStatements(text: string): [name: string, statement: string][] {
  const [, ...parts] = text.split(/^-- name: (\w+)\n(?:--.*\n)*/m)
  const names = parts.filter((_, index) => index % 2 === 0)
  return names.map((name, index) => [name, (parts[2 * index + 1] ?? '').trimEnd().replace(/;$/, '')])
}
