import { describe, expect, it } from 'vitest'
import { createPaint } from '../../cli/terminal/colour.ts'
import { renderLine } from '../../cli/terminal/line.ts'
import { sampleView } from './sample-view.ts'
import { drawScreen, SMALLEST } from './screen.ts'

const paint = createPaint({ isTTY: false }, {})
const text = (width: number, height: number) =>
  drawScreen(sampleView, { width, height }).map((line) => renderLine(line, width, paint))

describe('the screen of the demo', () => {
  it('SEE-5 shows both sides, what is stuck on the left and what is left of a dead worker’s lease on the right', () => {
    const lines = text(SMALLEST.width, 24)
    expect(lines).toHaveLength(24)
    expect(lines.every((line) => Array.from(line).length <= SMALLEST.width)).toBe(true)
    expect(lines.find((line) => line.includes('w2'))).toMatch(/✕ killed.*✕ killed/)
    expect(lines.find((line) => line.includes('stuck') && line.includes('job 5'))).toMatch(
      /job 13 +▮{10} 57\.6s/,
    )
    expect(lines.at(-1)).toContain('[K]ill -9')
  })

  it('SEE-5 cuts nothing off but lines of the log in the smallest terminal', () => {
    const lines = text(SMALLEST.width, SMALLEST.height).filter((line) => !/^ +\d+\.\d s /.test(line))
    expect(lines.filter((line) => line.includes('…'))).toEqual([])
  })

  it('SEE-5 shows the last lines of what happened where the terminal is too small for two sides', () => {
    expect(text(40, 2)).toEqual(
      sampleView.log.slice(-2).map((line) => expect.stringContaining(line.slice(0, 30))),
    )
  })
})
