/**
 * Splits a file of statements, each after a line `-- name: …` (or `// name: …`). They come without leading comments and the
 * final semicolon.
 */
export function namedStatements(text: string): [name: string, statement: string][] {
  const [, ...parts] = text.split(/^(?:--|\/\/) name: (\w+)\n(?:(?:--|\/\/).*\n)*/m)
  const names = parts.filter((_, index) => index % 2 === 0)
  return names.map((name, index) => [name, (parts[2 * index + 1] ?? '').trimEnd().replace(/;$/, '')])
}
