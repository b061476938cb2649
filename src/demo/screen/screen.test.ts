import { describe, expect, it } from 'vitest'
import { createPaint } from '../../cli/terminal/colour.ts'
import { renderLine } from '../../cli/terminal/line.ts'
import { sampleView } from './sample-view.ts'
import { drawScreen, type ScreenView, SMALLEST } from './screen.ts'

const paint = createPaint({ isTTY: false }, {})
const text = (width: number, height: number) =>
  drawScreen(sampleView, { width, height }).map((line) => renderLine(line, width, paint))

/** As many and as long as they get. */
const crowded: ScreenView = {
  ...sampleView,
  handRolled: {
    workers: sampleView.handRolled.workers.map((worker) => ({ ...worker, pid: 1_234_567, stateMs: 12_300 })),
    orphans: Array.from({ length: 14 }, (_, n) => ({ n: 100 + n, ageMs: 3_540_000 })),
    totals: 'done 137  failed 12  stuck 14',
  },
  unstuck: {
    workers: sampleView.unstuck.workers.map((worker) => ({
      ...worker,
      pid: 1_234_567,
      job: { n: 142, leaseLeftMs: 57_600, leaseShare: 1, beats: 60 },
    })),
    orphans: [],
    totals: 'done 137  stuck 0  dead 1  rescued 12 ≤ 3.5 s',
  },
  banner: 'Gateway busy — jobs will resume automatically.',
  log: [
    ...sampleView.log,
    '112.4 s  kill -9 1234567 (w2, running job 113, lease 60 s), and 1234568 on the left',
    '114.9 s  job 113 rescued 2.4 s after its last heartbeat: its process had ended; dead-lettered: it killed too many',
  ],
}

describe('the screen of the demo', () => {
  it('SEE-5 shows both sides, what is stuck on the left and what is left of a dead worker’s lease on the right', () => {
    const lines = text(SMALLEST.width, 24)
    expect(lines).toHaveLength(24)
    expect(lines.every((line) => Array.from(line).length <= SMALLEST.width)).toBe(true)
    expect(lines.find((line) => line.includes('w2'))).toMatch(/✕ killed.*✕ killed/)
    expect(lines.find((line) => line.includes('stuck') && line.includes('job 5'))).toMatch(
      /job 13 +▮{12} 57\.6s/,
    )
    expect(lines.at(-1)).toContain('[K]ill -9')
  })

  describe.each([
    [80, 24],
    [120, 40],
    [200, 50],
  ])('at %i columns', (width, height) => {
    const lines = drawScreen(crowded, { width, height }).map((line) => renderLine(line, width, paint))

    it('SEE-9 cuts nothing off and breaks no word', () => {
      expect(lines).toHaveLength(height)
      expect(lines.filter((line) => line.includes('…') || Array.from(line).length > width)).toEqual([])
      const words = lines.join(' ').replaceAll(/\s+/g, ' ')
      expect(words).toContain(crowded.log.at(-1)?.replaceAll(/\s+/g, ' '))
    })

    it('SEE-9 keeps the counters of the sides apart', () => {
      const totals = lines.find((line) => line.includes('done 137')) ?? ''
      expect(totals.split(' │ ').map((side) => side.trim())).toEqual([
        crowded.handRolled.totals,
        crowded.unstuck.totals,
      ])
      const sides = lines.filter((line) => line.includes('│')).map((line) => line.indexOf('│'))
      expect(new Set(sides).size).toBe(1)
    })
  })

  it('SEE-9 uses a wide terminal: longer bars, and more of the stuck jobs', () => {
    const drawn = (width: number, height: number) =>
      drawScreen(crowded, { width, height }).map((line) => renderLine(line, width, paint))
    const bar = (lines: string[]) => Math.max(...lines.map((line) => line.split('▮').length - 1))
    const stuck = (lines: string[]) => lines.filter((line) => line.includes('stuck')).length
    expect(bar(drawn(200, 50))).toBeGreaterThan(2 * bar(drawn(80, 24)))
    expect(stuck(drawn(80, 24))).toBeGreaterThanOrEqual(6)
    expect(stuck(drawn(200, 50))).toBeGreaterThan(stuck(drawn(80, 24)))
  })

  it('SEE-5 shows the last lines of what happened where the terminal is too small for two sides', () => {
    expect(text(40, 2)).toEqual(
      sampleView.log.slice(-2).map((line) => expect.stringContaining(line.slice(0, 30))),
    )
  })
})
