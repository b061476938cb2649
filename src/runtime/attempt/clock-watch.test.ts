import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ClockWatch, type Watched } from './clock-watch.ts'
import { JobClocks } from './job-clocks.ts'

const LEASE_MS = 60_000

describe('the watch over the clocks of jobs', () => {
  let running: Set<Watched>
  let watch: ClockWatch
  let looks: number
  let happened: string[]

  beforeEach(() => {
    vi.useFakeTimers()
    running = new Set()
    watch = new ClockWatch(running)
    looks = 0
    happened = []
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function start(name: string, leaseMs = LEASE_MS) {
    const clocks = new JobClocks(undefined, {
      abort: (cause) => void happened.push(`${name} ${cause}`),
      emitAtRisk: () => void happened.push(`${name} at risk`),
    })
    clocks.renewLease(leaseMs)
    const lookAtClocks = (nowMs: number) => {
      looks++
      return clocks.look(nowMs)
    }
    const attempt = { lookAtClocks }
    running.add(attempt)
    watch.add(attempt)
    return { clocks, attempt }
  }

  it('C6 a job is at risk when its lease ends, and nothing looks at it before', () => {
    start('a')
    start('b', 2 * LEASE_MS)
    vi.advanceTimersByTime(LEASE_MS - 200)
    expect(looks).toBe(2)
    vi.advanceTimersByTime(200)
    expect(happened).toEqual(['a at risk'])
  })

  it('C6 a lease that is extended is looked at again before its new end', () => {
    const { clocks } = start('a')
    vi.advanceTimersByTime(LEASE_MS / 2)
    clocks.renewLease(LEASE_MS)
    vi.advanceTimersByTime(LEASE_MS - 1)
    expect(happened).toEqual([])
    vi.advanceTimersByTime(1)
    expect(happened).toEqual(['a at risk'])
  })

  it('C6 a job at risk is watched on after its lease was extended', () => {
    const { clocks } = start('a')
    vi.advanceTimersByTime(LEASE_MS)
    clocks.renewLease(LEASE_MS)
    vi.advanceTimersByTime(LEASE_MS + 100)
    expect(happened).toEqual(['a at risk', 'a at risk'])
  })

  it('LEASE-8 a deadline that becomes shorter is met in time', () => {
    const { clocks, attempt } = start('a')
    clocks.setDeadline(5_000, 0)
    watch.add(attempt)
    vi.advanceTimersByTime(4_999)
    expect(happened).toEqual([])
    vi.advanceTimersByTime(1)
    expect(happened).toEqual(['a deadline'])
  })

  it('fires nothing after it was stopped, and watches again', () => {
    start('a')
    watch.stop()
    running.clear()
    vi.advanceTimersByTime(2 * LEASE_MS)
    expect(looks).toBe(1)
    start('b')
    vi.advanceTimersByTime(LEASE_MS)
    expect(happened).toEqual(['b at risk'])
  })
})
