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

/** Broken between words; later lines start with `indent` spaces. Only a word longer than a line is broken itself. */
export function wrapText(text: string, width: number, indent = 0): string[] {
  const lines: string[] = []
  let line = ''
  // Spaces before a word belong to it: a column of times stays aligned.
  for (const [word] of text.matchAll(/ *[^ ]+/g)) {
    const isFull = line !== '' && Array.from(line + word).length > width
    if (isFull) lines.push(line)
    line = isFull ? ' '.repeat(indent) + word.trimStart() : line + word
  }
  return [...lines, line].flatMap((each) => breakWord(each, width))
}

function breakWord(line: string, width: number): string[] {
  const characters = Array.from(line)
  if (characters.length <= width) return [line]
  return [characters.slice(0, width).join(''), ...breakWord(characters.slice(width).join(''), width)]
}
