// Types, owners, worker ids and errors come from applications and their users. Unescaped, they could move the cursor, forge a line
// or reorder the characters of a name.

/** C0, DEL and C1 controls, line separators, and the marks, embeddings, overrides and isolates of bidirectional text. */
const STEERING = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Replaces such characters in a line by `\n`, `\x1b`, `\u202e`. */
export function escapeControls(text: string): string {
  return text.replaceAll(STEERING, (character) => short[character] ?? escaped(character))
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`
}

/** JSON does not escape DEL, C1 and bidirectional characters; the escapes are the same value for every reader. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(STEERING, (character) => `\\u${hex(character.charCodeAt(0), 4)}`)
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
