// SVG graphs. They have a white background, so that they are readable on dark pages.

import { show } from './report.ts'
import type { MeasureResult, Row } from './result.ts'

const WIDTH = 760
const OURS = '#1d6f5c'
const THEIRS = ['#8a94a6', '#b5651d', '#6a5acd', '#5b8ca8', '#a05a72', '#7a8b3c', '#555555']

/** Null if there is nothing to draw. */
export function drawChart({ title, chart, columns, rows }: MeasureResult): string | null {
  const done = rows.filter(({ problem }) => problem === null)
  if (chart === undefined || done.length === 0) return null
  if (chart.kind === 'lines') return drawLines(title, chart.columns, chart.axis, done)
  const column = columns.find(({ key }) => key === chart.column)
  return column === undefined
    ? null
    : drawBars(`${title}: ${column.title}`, column.key, column.digits ?? 0, done)
}

function drawBars(title: string, key: string, digits: number, rows: Row[]): string {
  const drawn = rows.filter(({ values }) => values[key] !== undefined)
  const most = Math.max(...drawn.map(({ values }) => values[key]?.max ?? 0))
  const left = 270
  const scale = (WIDTH - left - 90) / most
  const bars = drawn.map(({ id, name, values }, index) => {
    const { median, min, max } = values[key] ?? { median: 0, min: 0, max: 0 }
    const y = 44 + index * 30
    const color = id.startsWith('unstuck') && id !== 'unstuck-unfenced' ? OURS : THEIRS[0]
    return [
      text(left - 10, y + 14, name, 'end'),
      `<rect x="${left}" y="${y}" width="${round(median * scale)}" height="18" fill="${color}"/>`,
      `<path d="M${round(left + min * scale)} ${y + 9}H${round(left + max * scale)}" stroke="#222" stroke-width="1.5"/>`,
      text(round(left + max * scale) + 8, y + 14, show(median, digits), 'start'),
    ].join('')
  })
  return page(54 + drawn.length * 30, title, bars)
}

function drawLines(title: string, keys: string[], axis: string, rows: Row[]): string {
  const [left, top, width, height] = [70, 50, WIDTH - 350, 230]
  const most = Math.max(...rows.flatMap(({ values }) => keys.map((key) => values[key]?.median ?? 0)))
  const x = (index: number) => round(left + (index * width) / (keys.length - 1))
  const y = (value: number) => round(top + height - (value / most) * height)
  const scale = [0, 0.5, 1].flatMap((share) => [
    `<path d="M${left} ${y(most * share)}H${left + width}" stroke="#ddd"/>`,
    text(left - 8, y(most * share) + 4, show(most * share, 0), 'end'),
  ])
  const lines = rows.map(({ id, name, values }, index) => {
    const color = id === 'unstuck' ? OURS : (THEIRS[index % THEIRS.length] ?? '#000')
    const points = keys.flatMap((key, part) => {
      const median = values[key]?.median
      return median === undefined ? [] : [`${x(part)},${y(median)}`]
    })
    const labelY = top + 14 + index * 22
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2.5"/>`,
      `<path d="M${left + width + 20} ${labelY - 4}h18" stroke="${color}" stroke-width="2.5"/>`,
      text(left + width + 44, labelY, name, 'start'),
    ].join('')
  })
  return page(top + height + 40, title, [...scale, ...lines, text(left, top + height + 24, axis, 'start')])
}

function page(height: number, title: string, parts: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="26" font-size="15" font-weight="600" fill="#111">${escape(title)}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function text(x: number, y: number, words: string, anchor: 'start' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#222">${escape(words)}</text>`
}

const round = (value: number) => Math.round(value * 10) / 10

function escape(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
