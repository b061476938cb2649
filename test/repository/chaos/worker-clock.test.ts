import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { clockLibrary, removeClockMemory, WorkerClock } from '../../../chaos/src/faults/worker-clock.ts'

/** Prints its wall clock and its monotonic clock repeatedly. */
const PROGRAM = `setInterval(() => {
  const trueMs = Number(process.hrtime.bigint()) / 1e6 + Number(process.env.CHAOS_CLOCK_OFFSET_MS)
  console.log(JSON.stringify({ wrongByMs: Date.now() - trueMs, trueMs }))
}, 50)`

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) cleanUp()
})

describe('the clock of a worker under chaos', () => {
  // Skipped without libfaketime, the only way to change the clock of one process.
  it.skipIf(clockLibrary === null)(
    'is wrong from the start, steps while it runs, and spares the monotonic one',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'unstuck-clock-'))
      cleanUps.push(() => rmSync(folder, { recursive: true }))
      const clock = new WorkerClock(join(folder, 'clock'), 3_600)
      const child = spawn(process.execPath, ['-e', PROGRAM], {
        env: clock.env(),
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = once(child, 'exit')
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const untilWrongBy = async (expectedS: number) => {
        for (;;) {
          const { value } = (await lines.next()) as { value: string }
          const { wrongByMs, trueMs } = JSON.parse(value) as { wrongByMs: number; trueMs: number }
          expect(Math.abs(trueMs - Date.now())).toBeLessThan(10_000)
          if (Math.round(wrongByMs / 1000) === expectedS) return
        }
      }
      await untilWrongBy(3_600)
      clock.step(-86_400)
      await untilWrongBy(3_600 - 86_400)
      clock.step(0)
      await untilWrongBy(3_600)
      child.kill('SIGKILL')
      await ended
      removeClockMemory(child.pid)
    },
  )
})
