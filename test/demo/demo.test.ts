// The demo loses nothing, whatever it kills, and its receipt would show a loss.
import { describe, expect, it } from 'vitest'
import { promisedMs } from '../../src/demo/demo-settings.ts'
import { runCommand } from '../cli/support/run-command.ts'
import { isListening, readReceipt, startDemo } from './demo-command.ts'

/** The storyboard lasts under a minute on an idle machine. */
const LIMIT_MS = 240_000

/** The settings beside the defaults, and the result of each act. */
function expectStory(said: string): void {
  expect(said).toMatch(/demo: +lease 3 s · beat 1 s · sweep 0.5 s · backoff 0 s/)
  expect(said).toMatch(/default: +lease 60 s · beat 15 s · sweep 10 s · backoff 1 s/)
  expect(said).toMatch(/brisk: +lease 20 s · beat 5 s · sweep 2 s/)
  expect(said).toMatch(/kill -9 \d+ \(w\d, running job \d+, lease 60 s\)/)
  expect(said).toMatch(/rescued \d\.\d s after its last heartbeat: its process had ended/)
  expect(said).toMatch(/freeze \d+ \(w\d, SIGSTOP, running job \d+\)/)
  expect(said).toMatch(/rescued \d\.\d s after its last heartbeat: its lease had expired/)
  expect(said).toContain('kept its lease: heartbeats have their own thread')
  expect(said).toContain('breaker closed by health probes')
  expect(said).toContain('is a dead letter after 3 workers')
  expect(said).toMatch(/late write of job \d+ refused: lease-lost, fence \d+ < \d+/)
}

describe('unstuck demo', () => {
  it('REAP-1 LEASE-5 LEASE-9 BREAK-2 FAIL-5 SEE-5 ends in a good receipt, beside one that loses an effect and exits with 1', {
    timeout: LIMIT_MS,
  }, async () => {
    const whole = startDemo(['--seed', '1', '--port', '4141'])
    const losing = startDemo(['--seed', '2', '--port', '4141', '--acts', 'kill'], {
      DEMO_FAULT: 'lose-effect',
    })
    const [good, bad] = await Promise.all([whole.result, losing.result])
    const receipt = readReceipt(good.stdout)
    expect({ ...receipt, stderr: good.stderr }).toMatchObject({
      lost: 0,
      finishedTwice: 0,
      lateRescues: 0,
      deadOtherwise: 0,
    })
    expect(good.exitCode).toBe(0)
    expect(receipt).toMatchObject({ seed: 1, promisedMs, deadOnPurpose: 1 })
    expect(receipt.attemptsSpentByBreaker).toBe(0)
    expect(receipt.done).toBe(receipt.jobsIn - 1)
    // One by kill -9, three by the poison job, and the jobs running when everything went down.
    expect(receipt.workersKilled).toBeGreaterThanOrEqual(7)
    expect(receipt.rescues).toBeGreaterThanOrEqual(5)
    expect(receipt.handRolledStuck).toBeGreaterThan(0)
    expectStory(good.stderr)

    const { seed, lost } = readReceipt(bad.stdout)
    expect({ seed, exitCode: bad.exitCode, stderr: bad.stderr }).toMatchObject({ seed: 2, exitCode: 1 })
    expect(lost).toBeGreaterThan(0)
    const ports = [good, bad].map(({ stderr }) => /dashboard: http:\/\/127\.0\.0\.1:(\d+)/.exec(stderr)?.[1])
    expect(new Set(ports).size).toBe(2)
    for (const port of ports) expect(await isListening(Number(port))).toBe(false)
  })

  it('REAP-1 exits with 1 where a job is finished twice', { timeout: LIMIT_MS }, async () => {
    const demo = startDemo(['--seed', '3', '--no-serve', '--acts', 'kill'], { DEMO_FAULT: 'finish-twice' })
    const { exitCode, stdout, stderr } = await demo.result
    expect(readReceipt(stdout).finishedTwice).toBeGreaterThan(0)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 })
  })

  it.each([
    ['--seed', '-1'],
    ['--speed', '0'],
    ['--port', '70000'],
  ])('OPS-8 refuses %s %s with one line', async (flag, value) => {
    const { exitCode, stderr } = await runCommand(['demo', flag, value])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Must be a')
  })
})
