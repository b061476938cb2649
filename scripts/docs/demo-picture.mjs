// @ts-check
// Draws the demo's screen as docs/images/demo.svg, with the code that draws it in a terminal.
import { writeFileSync } from 'node:fs'
import { sampleView } from '../../dist/demo/screen/sample-view.js'
import { drawScreen } from '../../dist/demo/screen/screen.js'
import { isRunAsCommand } from '../check/problems.mjs'

const FILE = new URL('../../docs/images/demo.svg', import.meta.url)
const SIZE = { width: 84, height: 24 }
const CELL = { width: 8.4, height: 19 }
const PADDING = 18
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
const TITLE =
  'The demo in a terminal: on the left a hand-rolled table with three jobs stuck in processing, on the right unstuck, where two jobs were rescued: one within seconds of the end of its process, one by its lease'

/** @type {Record<string, string>} */
const FILLS = {
  red: '#f87171',
  green: '#4ade80',
  yellow: '#fbbf24',
  dim: '#94a3b8',
  bold: '#ffffff',
  inverse: '#fbbf24',
}

/** @param {string} text */
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/**
 * Positions each piece explicitly, so that no font can shift the columns.
 * @param {import('../../dist/cli/terminal/line.js').Line} line
 * @param {number} row
 */
function drawLine(line, row) {
  let column = 0
  const y = PADDING + (row + 1) * CELL.height
  return line.map((piece) => {
    const [text, colour] = typeof piece === 'string' ? [piece, undefined] : piece
    const x = PADDING + column * CELL.width
    const length = Array.from(text).length
    column += length
    if (text.trim() === '') return ''
    const fill = colour === undefined ? '#e2e8f0' : FILLS[colour]
    const weight = colour === 'bold' ? ' font-weight="700"' : ''
    const width = (length * CELL.width).toFixed(1)
    return `<text x="${x.toFixed(1)}" y="${y}" fill="${fill}"${weight} textLength="${width}" xml:space="preserve">${escape(text)}</text>`
  })
}

export function renderDemoPicture() {
  const width = Math.ceil(SIZE.width * CELL.width + 2 * PADDING)
  const height = Math.ceil(SIZE.height * CELL.height + 2 * PADDING)
  const texts = drawScreen(sampleView, SIZE)
    .flatMap(drawLine)
    .filter((text) => text !== '')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}" font-size="14">
<title>${escape(TITLE)}</title>
<rect width="${width}" height="${height}" rx="10" fill="#0f172a"/>
${texts.join('\n')}
</svg>
`
}

if (isRunAsCommand(import.meta.url)) writeFileSync(FILE, renderDemoPicture())
