// The demo's own promise: whatever it kills, nothing is lost, and its receipt would say so.
import { describe, expect, it } from 'vitest'
import { promisedMs } from '../../src/cli/demo/demo-settings.ts'
import { isListening, readReceipt, startDemo, untilGone } from './demo-command.ts'
import { runCommand } from './run-command.ts'

/** The storyboard lasts under a minute on an idle machine. */
const LIMIT_MS = 240_000

describe('unstuck demo', () => {
  it('REAP-1 LEASE-5 LEASE-9 BREAK-2 FAIL-5 two demos at once end in good receipts, with a seed each', {
    timeout: LIMIT_MS,
  }, async () => {
    const demos = [startDemo(['--seed', '1', '--port', '4141']), startDemo(['--seed', '2', '--port', '4141'])]
    const results = await Promise.all(demos.map(({ result }) => result))
    for (const [index, { exitCode, stdout, stderr }] of results.entries()) {
      const receipt = readReceipt(stdout)
      expect({ ...receipt, stderr }).toMatchObject({
        lost: 0,
        finishedTwice: 0,
        lateRescues: 0,
        deadOtherwise: 0,
      })
      expect(exitCode).toBe(0)
      expect(receipt).toMatchObject({ seed: index + 1, promisedMs, deadOnPurpose: 1 })
      expect(receipt.attemptsSpentByBreaker).toBe(0)
      expect(receipt.done).toBe(receipt.jobsIn - 1)
      // One by kill -9, three by the poison job, and what all had in hand when everything went down.
      expect(receipt.workersKilled).toBeGreaterThanOrEqual(7)
      expect(receipt.rescues).toBeGreaterThanOrEqual(5)
      expect(receipt.handRolledStuck).toBeGreaterThan(0)
      expect(stderr).toContain('kept its lease and is done')
      expect(stderr).toContain('breaker closed by health probes')
      expect(stderr).toContain('rests in the dead letters after 3 workers')
      expect(stderr).toMatch(/late write for job \d+ → lease-lost: 0 rows/)
    }
    const ports = results.map(({ stderr }) => /dashboard: http:\/\/127\.0\.0\.1:(\d+)/.exec(stderr)?.[1])
    expect(new Set(ports).size).toBe(2)
    for (const port of ports) expect(await isListening(Number(port))).toBe(false)
  })

  it.each([
    ['finish-twice', 'finishedTwice'],
    ['lose-effect', 'lost'],
  ] as const)('REAP-1 exits with 1 where %s is done to it', { timeout: LIMIT_MS }, async (fault, field) => {
    const demo = startDemo(['--seed', '3', '--no-serve', '--acts', 'kill'], { DEMO_FAULT: fault })
    const { exitCode, stdout, stderr } = await demo.result
    expect(readReceipt(stdout)[field]).toBeGreaterThan(0)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 })
  })

  it('SEE-5 shows its settings with the defaults beside them', { timeout: LIMIT_MS }, async () => {
    const demo = startDemo(['--no-serve'])
    await demo.said('worst case = lease + sweep')
    demo.kill('SIGINT')
    expect((await demo.result).exitCode).toBe(130)
    const said = demo.lines.join('\n')
    expect(said).toMatch(/demo: +lease 3 s · beat 1 s · sweep 0.5 s · backoff 0 s/)
    expect(said).toMatch(/default: +lease 300 s · beat 15 s · sweep 60 s · backoff 30 s/)
    expect(said).toMatch(/brisk: +lease 45 s · beat 15 s · sweep 5 s/)
    await untilGone([demo.pid])
  })

  it.each([
    ['--seed', '-1'],
    ['--speed', '0'],
    ['--port', '70000'],
  ])('OPS-8 refuses %s %s with one line', async (flag, value) => {
    const { exitCode, stderr } = await runCommand(['demo', flag, value])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('It takes a')
  })
})
