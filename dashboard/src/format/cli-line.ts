// The equivalent shell command.

/** Shell words, quoted if necessary. */
export function cliLine(
  words: string[],
  flags: Record<string, string | number | boolean | null | undefined> = {},
): string {
  const shown = ['unstuck', ...words.map(quoted)]
  for (const [name, value] of Object.entries(flags)) {
    if (value === null || value === undefined || value === false || value === '') continue
    shown.push(value === true ? `--${name}` : `--${name} ${quoted(String(value))}`)
  }
  return shown.join(' ')
}

const EXPORT_FLAGS: Readonly<Record<string, string>> = {
  error: 'code',
  older: 'older-than',
  younger: 'younger-than',
  lease: 'overdue',
}

/** `jobs export` has a flag for each search key. */
export function exportLine(q: string, flags: { table: string | null; payload: boolean }): string {
  const words = [...q.matchAll(/([a-z_]+):(?:"([^"]*)"|(\S+))/gi)].map(([, key = '', inQuotes, bare]) => {
    const name = key.toLowerCase()
    return [EXPORT_FLAGS[name] ?? name, name === 'lease' ? true : (inQuotes ?? bare ?? '')] as const
  })
  return cliLine(['jobs', 'export'], { ...Object.fromEntries(words), ...flags })
}

/** For a shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
