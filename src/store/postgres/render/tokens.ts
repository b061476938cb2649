// The kinds of tokens that rendering distinguishes in a file of sql/.

/** Comments, literals and quoted names are one token each; everything else passes in runs. */
export function nextToken(text: string, at: number): string {
  const rest = text.slice(at)
  if (rest.startsWith('--')) return /^--[^\n]*/.exec(rest)?.[0] ?? rest
  if (rest.startsWith('/*')) return blockComment(rest)
  if (rest.startsWith("'")) return /^'(?:[^']|'')*'/.exec(rest)?.[0] ?? rest
  if (rest.startsWith('"')) return /^"[^"]+"(?:\."[^"]+")?/.exec(rest)?.[0] ?? rest
  return /^(?:[^-/'"]+|[-/])/.exec(rest)?.[0] ?? rest
}

/** PostgreSQL nests block comments, so a block may hold markers. */
function blockComment(text: string): string {
  let depth = 0
  for (const match of text.matchAll(/\/\*|\*\//g)) {
    depth += match[0] === '/*' ? 1 : -1
    if (depth === 0) return text.slice(0, match.index + 2)
  }
  throw new Error('a comment in sql/ is not closed')
}

/** The token after a marker: a literal, a word, or a group in parentheses. */
export function markedToken(text: string, at: number): string {
  const rest = text.slice(at)
  if (!rest.startsWith('(')) return /^(?:'(?:[^']|'')*'|\w+)/.exec(rest)?.[0] ?? ''
  let depth = 0
  for (let end = 0; end < rest.length; end++) {
    if (rest[end] === '(') depth++
    if (rest[end] === ')' && --depth === 0) return rest.slice(0, end + 1)
  }
  throw new Error('a marked group in sql/ is not closed')
}
