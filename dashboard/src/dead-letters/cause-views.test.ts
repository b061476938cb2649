import { describe, expect, it } from 'vitest'
import type { CauseState, DeadLetterGroup } from '../../../src/http/contract/index.ts'
import { type CauseView, isInView, viewOf } from './cause-views.ts'

const cause = (state: CauseState, back_since: string | null = null) =>
  ({ state, back_since }) as DeadLetterGroup

describe('isInView', () => {
  it('OPS-9 a settled cause leaves the open ones, and one that came back stands there again', () => {
    const isOpen = (...args: Parameters<typeof cause>) => isInView(cause(...args), 'open')
    expect([isOpen('new'), isOpen('investigating')]).toEqual([true, true])
    expect([isOpen('resolved'), isOpen('ignored')]).toEqual([false, false])
    expect(isOpen('resolved', '2026-05-12T14:01:00.000Z')).toBe(true)
  })

  it('OPS-9 an address that names no view shows the open ones', () => {
    const views: CauseView[] = [viewOf(null), viewOf('nonsense'), viewOf('ignored')]
    expect(views).toEqual(['open', 'open', 'ignored'])
  })
})
