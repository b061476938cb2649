// @ts-check
// Parses enough SQL to find the functions of a file. One pass separates comments, strings and bodies, so that neither `--` in
// a string nor `create function` in a body is misread.

const LEXEMES = /'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\//g
const ROUTINE = /\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:"?\w+"?\s*\.\s*)?"?(\w+)"?/gi

/** @typedef {{ name: string, line: number, bodyLines: number, isPrivate: boolean }} Routine */

/**
 * The functions and procedures that a file creates itself.
 * @param {string} sql
 * @returns {Routine[]}
 */
export function findRoutines(sql) {
  const outline = blank(sql, /^(?:--|\/\*|\$)/)
  const code = blank(sql, /^(?:--|\/\*)/)
  return [...outline.matchAll(ROUTINE)].map((match) => ({
    name: match[1] ?? '',
    line: lineAt(sql, match.index),
    bodyLines: countBodyLines(code.slice(match.index)),
    isPrivate: /(?:^|\n)-- Private:[^\n]*\n(?:--[^\n]*\n)*$/.test(sql.slice(0, match.index)),
  }))
}

/**
 * Blanks out the lexemes that match `unwanted`, keeping all offsets and lines.
 * @param {string} sql
 * @param {RegExp} unwanted
 */
function blank(sql, unwanted) {
  return sql.replace(LEXEMES, (lexeme) => (unwanted.test(lexeme) ? lexeme.replace(/[^\n]/g, ' ') : lexeme))
}

/** @param {string} sql */
function countBodyLines(sql) {
  const body = /(\$\w*\$)([\s\S]*?)\1/.exec(sql)?.[2] ?? ''
  return body.trim().split('\n').length
}

/**
 * @param {string} text
 * @param {number} index
 */
function lineAt(text, index) {
  return text.slice(0, index).split('\n').length
}
