import { describe, expect, it } from 'vitest'
import type { TopRow } from './top-rows.ts'
import { firstView, pressKey, type TopView } from './top-view.ts'

const row = (key: string, kind: TopRow['kind'], more: Partial<TopRow> = {}): TopRow => ({
  key,
  kind,
  table: 'jobs',
  jobId: kind === 'worker' ? null : key,
  workerId: kind === 'dead' ? null : 'w1',
  text: key,
  line: () => [key],
  ...more,
})
const rows = [row('a', 'running'), row('b', 'dead'), row('w', 'worker')]
const press = (view: TopView, ...keys: string[]) =>
  keys.reduce((seen, key) => pressKey(seen.view, key, rows), { view, action: null } as ReturnType<
    typeof pressKey
  >)

describe('keys of unstuck top', () => {
  it('SEE-5 up and down stay within the rows', () => {
    expect(press(firstView, 'up').view.chosen).toBe('a')
    expect(press(firstView, 'down', 'down').view.chosen).toBe('b')
    expect(press(firstView, 'j', 'j').view.chosen).toBe('b')
    expect(press(firstView, 'j', 'j', 'k').view.chosen).toBe('a')
    expect(press(firstView, 'down', 'down', 'down', 'down', 'down').view.chosen).toBe('w')
  })

  it('SEE-5 nothing dangerous happens without a yes', () => {
    const asked = press(firstView, 'down', 'down', 'R')
    expect(asked.action).toBeNull()
    expect(pressKey(asked.view, 'y', rows).action).toEqual({ kind: 'retry', row: rows[1] })
    for (const key of ['enter', 'Y', 'n', 'escape', 'q'])
      expect(pressKey(asked.view, key, rows).action).toBeNull()
  })

  it('SEE-5 small letters are not dangerous', () => {
    for (const key of ['r', 'd']) expect(press(firstView, 'down', 'down', key).view.ask).toBeNull()
  })

  it('SEE-5 while a filter is typed, keys are text', () => {
    const typing = press(firstView, '/', 'q', 'R')
    expect(typing).toMatchObject({ action: null, view: { filter: 'qR', isTyping: true } })
    expect(press(typing.view, 'backspace', 'enter').view).toMatchObject({ filter: 'q', isTyping: false })
    expect(press(typing.view, 'escape').view.filter).toBe('')
  })

  it('SEE-5 a row that is gone is not acted upon', () => {
    const { view } = press(firstView, 'down')
    expect(pressKey(view, 'D', []).view.ask).toBeNull()
  })
})
