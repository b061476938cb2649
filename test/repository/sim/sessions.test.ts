// Presence of the simulated server: the rules of look_at_workers.sql, whose own tests are in test/sql/sweeps.
import { beforeEach, describe, expect, it } from 'vitest'
import { type Session, Sessions } from '../../../sim/src/database/sessions.ts'
import { openMemoryStore } from '../../../src/store/memory/memory-store.ts'

const GRACE_MS = 2_000

describe('sessions of the simulated server', () => {
  let nowMs: number
  let epoch: number
  let sessions: Sessions
  let report: (workerId: string) => Promise<unknown>
  let forget: (workerId: string) => void

  beforeEach(() => {
    nowMs = 1_000_000
    epoch = 0
    const { store, state } = openMemoryStore({ now: () => nowMs })
    sessions = new Sessions(state, () => epoch)
    forget = (workerId) => state.workers.delete(workerId)
    report = (workerId) =>
      store.reportWorker({
        workerId,
        types: [],
        concurrency: 1,
        running: 0,
        reportMs: 15_000,
        phase: 'running',
      })
  })

  async function start(workerId: string): Promise<Session> {
    const session: Session = {
      owner: workerId,
      workerId: null,
      isWatching: false,
      usedAtMs: nowMs,
      onEnd: () => {},
    }
    sessions.begin(session)
    await report(workerId)
    sessions.take(session, workerId, GRACE_MS)
    return session
  }

  /** Looks every second. */
  function lookFor(ms: number): number {
    let gone = 0
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += 1_000) {
      nowMs += 1_000
      gone += sessions.look().newlyGone
    }
    return gone
  }

  it('a worker that is gone and holds no job is forgotten: it is no part of a later mass', async () => {
    const dying = [await start('w1'), await start('w2'), await start('w3')]
    await start('w4')
    await start('w5')
    for (const session of dying) {
      lookFor(1_000)
      sessions.end(session)
      lookFor(10_000)
      expect([...sessions.gone().keys()]).toEqual([session.workerId])
      sessions.forgetGone(sessions.gone().keys())
    }
    expect(sessions.gone()).toEqual(new Map())
  })

  it('a worker is gone after its grace, from the first look without its lock', async () => {
    await start('other')
    const session = await start('w1')
    lookFor(1_000)
    sessions.end(session)
    const vanishedAtMs = nowMs + 1_000
    lookFor(2_000)
    expect(sessions.gone()).toEqual(new Map())
    expect(lookFor(1_000)).toBe(1)
    expect(sessions.gone()).toEqual(new Map([['w1', vanishedAtMs]]))
  })

  it.each(['shows life', 'returns', 'leaves'] as const)('a worker that %s is not', async (act) => {
    await start('other')
    const session = await start('w1')
    sessions.end(session)
    lookFor(2_000)
    if (act === 'shows life') sessions.showLife('w1')
    else if (act === 'leaves') sessions.leave('w1')
    else {
      sessions.begin(session)
      sessions.take(session, 'w1', GRACE_MS)
    }
    lookFor(2_000)
    expect(sessions.gone()).toEqual(new Map())
  })

  it('a worker that shows life is not gone, also if a failover has undone its report', async () => {
    await start('other')
    const session = await start('w1')
    forget('w1')
    sessions.end(session)
    for (let nth = 0; nth < 5; nth++) {
      lookFor(1_000)
      sessions.showLife('w1')
    }
    expect(sessions.gone()).toEqual(new Map())
  })

  it('an end of the server is the end of no worker', async () => {
    await start('w1')
    await start('w2')
    lookFor(1_000)
    epoch++
    sessions.endAll()
    lookFor(10_000)
    expect(sessions.gone()).toEqual(new Map())
  })

  it('three of four that vanish together are not judged', async () => {
    const [, ...vanishing] = [await start('w1'), await start('w2'), await start('w3'), await start('w4')]
    lookFor(1_000)
    for (const session of vanishing) sessions.end(session)
    lookFor(10_000)
    expect(sessions.gone()).toEqual(new Map())
  })

  it('two of them watch at a time', async () => {
    const [first, second, third] = [await start('w1'), await start('w2'), await start('w3')]
    expect([first, second, third].map((session) => sessions.watch(session))).toEqual([true, true, false])
    sessions.end(first)
    expect(sessions.watch(third)).toBe(true)
  })
})
