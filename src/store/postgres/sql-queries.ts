// The statements of sql/queries, by name. A file holds those of one port, each after a line `-- name: …`.
import { namedStatements } from '../named-statements.ts'
import { readSqlFolder } from './sql-files.ts'

let statements: Map<string, string> | undefined

export function readQuery(name: string): string {
  statements ??= new Map(readSqlFolder('queries').flatMap(({ text }) => namedStatements(text)))
  const statement = statements.get(name)
  if (statement === undefined) throw new Error(`sql/queries has no statement named ${name}`)
  return statement
}
