import { quoteLiteral } from '../../render/identifiers.ts'

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
