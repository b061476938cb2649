// A line of a screen: coloured pieces of text, cut to the width before they are coloured.
import type { Colour, Paint } from './colour.ts'
import { escapeControls } from './escape-controls.ts'

export type Piece = string | [text: string, colour: Colour]
export type Line = Piece[]

export function renderLine(line: Line, width: number, paint: Paint): string {
  let left = width
  let shown = ''
  for (const piece of line) {
    const [text, colour] = typeof piece === 'string' ? [piece, undefined] : piece
    const cut = cutText(text, left)
    left -= Array.from(cut).length
    shown += colour === undefined || cut === '' ? cut : paint(cut, colour)
    if (left === 0) break
  }
  return shown
}

/** Escapes controls and cuts by characters, with an ellipsis at the end. */
export function cutText(text: string, width: number): string {
  const characters = Array.from(escapeControls(text))
  if (characters.length <= width) return characters.join('')
  return width === 0 ? '' : `${characters.slice(0, width - 1).join('')}…`
}

/** Cut or padded to the width. */
export function fitText(text: string, width: number): string {
  const cut = cutText(text, width)
  return cut + ' '.repeat(width - Array.from(cut).length)
}
