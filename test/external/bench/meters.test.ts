// The meters of the benchmark, on work of a known size.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { serverCpuMs } from '../../../bench/processes/cpu-time.ts'

interface Profile {
  read(): { allocatedBytes?: number }
}

const allocations = new URL('../../../bench/processes/allocations.mjs', import.meta.url).href
const { openProfile } = (await import(allocations)) as { openProfile: () => Profile }

const BURNT_MS = 300
/** Burns CPU time, whatever the clock says, and then waits. */
const burn = `
  while (process.cpuUsage().user + process.cpuUsage().system < ${BURNT_MS} * 1000);
  console.log('burnt')
  setTimeout(() => {}, 60_000)`

describe.skipIf(process.platform !== 'linux')('serverCpuMs', () => {
  it('counts a child that runs, and keeps the count when it has ended', async () => {
    const before = serverCpuMs(process.pid)
    const child = spawn(process.execPath, ['-e', burn], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    const running = serverCpuMs(process.pid)
    expect(running - before).toBeGreaterThanOrEqual(BURNT_MS * 0.95)

    child.kill('SIGKILL')
    await ended
    // The kernel counts the ended in ticks of 10 ms.
    expect(serverCpuMs(process.pid)).toBeGreaterThanOrEqual(running - 20)
  })
})

describe('openProfile', () => {
  it('counts what was allocated, also what was collected meanwhile', () => {
    const profile = openProfile()
    expect(profile.read()).toEqual({})
    const [arrays, length] = [100_000, 100]
    let kept: number[] = []
    // Eight bytes for each number, besides a head.
    for (let count = 0; count < arrays; count++) kept = Array.from<number>({ length }).fill(count)
    const { allocatedBytes } = profile.read()
    expect(kept).toHaveLength(length)
    expect(allocatedBytes).toBeGreaterThanOrEqual(arrays * length * 8)
    expect(allocatedBytes).toBeLessThan(arrays * length * 8 * 3)
  })
})
