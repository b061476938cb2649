// Statements of an SQL text as psql would send them: a semicolon inside quotes, bodies and comments ends nothing.
const token =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$\-/;]+|[\s\S]/g

export function splitStatements(sql: string): string[] {
  const statements: string[] = []
  let statement = ''
  for (const [text] of sql.matchAll(token)) {
    if (text !== ';' || isInsideBody(statement)) {
      if (!/^(?:--|\/\*)/.test(text)) statement += text
      continue
    }
    if (statement.trim() !== '') statements.push(statement.trim())
    statement = ''
  }
  if (statement.trim() !== '') statements.push(statement.trim())
  return statements
}

/** True inside the body of a function that is not in quotes. */
const isInsideBody = (statement: string) => /\nbegin atomic\s/.test(statement) && !/;\s*end$/.test(statement)
