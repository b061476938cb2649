import type { Colour } from './colour.ts'

/** The remaining share of a lease as a coloured bar. Below 0 the lease has expired. */
export function leaseBar(
  share: number,
  width: number,
  isUnicode = showsUnicode(),
): [text: string, colour: Colour] {
  const [full, empty, over] = isUnicode ? ['▮', '▯', '✕'] : ['#', '.', 'x']
  if (share < 0) return [over.padEnd(width, empty), 'red']
  const filled = Math.min(width, Math.ceil(share * width))
  const colour = share > 0.5 ? 'green' : share < 0.25 ? 'red' : 'yellow'
  return [full.repeat(filled) + empty.repeat(width - filled), colour]
}

/** Windows terminals use UTF-8; elsewhere the locale decides. */
export function showsUnicode(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  if (env['TERM'] === 'dumb' || env['TERM'] === 'linux') return false
  if (process.platform === 'win32') return true
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'UTF-8'
  return /utf-?8/i.test(locale)
}
