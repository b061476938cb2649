import { quoteLiteral } from '../../render/identifiers.ts'
import { nextToken } from '../../render/tokens.ts'

/**
 * A statement with its parameters as literals: for printed SQL, and for DO blocks, which take no parameters. Comments stay: a
 * line break in a value would end one.
 */
export function withLiterals(sql: string, values: (string | string[])[]): string {
  return sql.replaceAll(/--.*|\$(\d+)/g, (place, number?: string) => {
    if (number === undefined) return place
    const value = values[Number(number) - 1]
    if (value === undefined) throw new Error(`no value for ${place} in a file of sql/`)
    return quoteLiteral(typeof value === 'string' ? value : arrayText(value))
  })
}

function arrayText(values: string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** On one line, whatever names are in it: the rest of a name would be run. */
export const commentText = (text: string): string => `-- ${text.replaceAll(/[\n\r]/g, ' ')}`
/** One by one: Citus takes no message with several statements that change a distributed table. */
export function statementsOf(sql: string): string[] {
  const statements = ['']
  let isQuoted = false
  for (let at = 0; at < sql.length; ) {
    const token = nextToken(sql, at)
    at += token.length
    const isText = /^(?:--|\/\*|'|")/.test(token)
    for (const part of isText ? [token] : token.split(/(\$\$|;)/)) {
      if (part === '$$') isQuoted = !isQuoted
      if (part === ';' && !isQuoted) statements.push('')
      else statements[statements.length - 1] += part
    }
  }
  return statements.filter((statement) => statement.replaceAll(/^\s*--.*$/gm, '').trim() !== '')
}
