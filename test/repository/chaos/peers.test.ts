import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Evidence, judgeWrites, type Write } from '../../../chaos/src/peers/judge-writes.ts'
import { makeRounds } from '../../../chaos/src/peers/make-rounds.ts'
import { descendantsOf, untilGone } from '../../demo/demo-command.ts'

describe('the rounds of faults for the peers', () => {
  it('are the same for the same seed, and others for another', () => {
    const faults = makeRounds({ seed: 7, durationMs: 120_000 })
    expect(makeRounds({ seed: 7, durationMs: 120_000 })).toEqual(faults)
    expect(makeRounds({ seed: 8, durationMs: 120_000 })).not.toEqual(faults)
  })

  it('have every kind of fault, and nothing else during an outage or a deploy', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const faults = makeRounds({ seed, durationMs: 60_000 })
      expect(new Set(faults.map(({ kind }) => kind))).toEqual(
        new Set(['pause', 'block', 'blackhole', 'kill', 'database-stopped', 'deploy']),
      )
      const alone = faults.filter(({ kind }) => ['database-stopped', 'deploy'].includes(kind))
      for (const one of alone)
        for (const other of faults.filter((fault) => fault !== one))
          expect(
            other.atMs + other.durationMs < one.atMs || other.atMs > one.atMs + one.durationMs,
            `seed ${seed}: ${other.kind} during ${one.kind}`,
          ).toBe(true)
    }
  })
})

function write(kind: string, who: string, at: number, spent = 0): Write {
  return { job: 'a', kind, who, spent, at }
}

/** A job that w1-1 works on from 0 to 30 s. */
function evidence(writes: Write[], more: Partial<Evidence> = {}): Evidence {
  return {
    writes,
    ledger: [
      { kind: 'started', at: 0, worker: 'w1-1', job: 'a' },
      { kind: 'effect', at: 30_000, worker: 'w1-1', job: 'a' },
      { kind: 'ended', at: 30_000, worker: 'w1-1', job: 'a' },
    ],
    disturbances: [],
    kills: [],
    deploys: [],
    acknowledged: ['a'],
    unfinished: [],
    ...more,
  }
}

const taken = [
  write('claimed', 'w1-1', 0),
  write('returned', 'w2-1', 11_000, 1),
  write('claimed', 'w2-1', 12_000, 1),
]

describe('the judge of the peers', () => {
  it('finds nothing in a job that was claimed and finished once', () => {
    expect(
      judgeWrites(evidence([write('claimed', 'w1-1', 0), write('finished', 'w1-1', 30_000)])),
    ).toMatchObject({
      jobs: 1,
      finishedOnce: 1,
      finishedTwice: 0,
      staleWrites: 0,
      falseReaps: 0,
      fromBlocked: 0,
      dead: 0,
      stuck: 0,
      lost: 0,
      workDoneAgain: 0,
    })
  })

  it('counts a completion by a process that had lost the job, and a second completion', () => {
    const writes = [...taken, write('finished', 'w1-1', 30_000), write('finished', 'w2-1', 40_000)]
    expect(judgeWrites(evidence(writes))).toMatchObject({ staleWrites: 1, finishedTwice: 1, finishedOnce: 0 })
  })

  it('counts the results of processes that had lost the job, whether or not they were accepted', () => {
    expect(judgeWrites(evidence(taken))).toMatchObject({ lateResults: 1, staleWrites: 0 })
    const finished = [...taken, write('finished', 'w2-1', 14_000, 1)]
    expect(judgeWrites(evidence(finished))).toMatchObject({ lateResults: 0 })
  })

  it.each([
    { kind: 'nothing', who: 'w2', expected: { falseReaps: 1, afterOutages: 0, fromBlocked: 0 } },
    { kind: 'database-stopped', who: '*', expected: { falseReaps: 1, afterOutages: 1, fromBlocked: 0 } },
    { kind: 'block', who: 'w1', expected: { falseReaps: 0, afterOutages: 0, fromBlocked: 1 } },
    { kind: 'pause', who: 'w1', expected: { falseReaps: 0, afterOutages: 0, fromBlocked: 0 } },
    { kind: 'gone', who: 'w1-1', expected: { falseReaps: 0, afterOutages: 0, fromBlocked: 0 } },
  ])('judges a reap by what was done to the process: $kind', ({ kind, who, expected }) => {
    const disturbances = [{ who, kind, from: 500, to: 10_000 }]
    expect(judgeWrites(evidence(taken, { disturbances }))).toMatchObject(expected)
  })

  it('does not call it a reap where the process had ended its work', () => {
    const writes = [write('claimed', 'w1-1', 0), write('returned', 'w2-1', 31_000)]
    expect(judgeWrites(evidence(writes))).toMatchObject({ falseReaps: 0 })
  })

  it('measures from the kill to the next claim, leaves out what an outage delayed, and counts what nobody claims', () => {
    const kills = [{ workerId: 'w1-1', at: 1_000 }]
    expect(judgeWrites(evidence(taken, { kills }))).toMatchObject({
      rescues: { count: 1, slowestMs: 11_000, never: 0 },
    })
    const disturbances = [{ who: '*', kind: 'database-stopped', from: 3_000, to: 5_000 }]
    expect(judgeWrites(evidence(taken, { kills, disturbances }))).toMatchObject({
      rescues: { count: 0, never: 0 },
    })
    const unfinished = [{ job: 'a', state: 'active' }]
    expect(judgeWrites(evidence(taken.slice(0, 1), { kills, unfinished }))).toMatchObject({
      rescues: { count: 0, never: 1 },
      stuck: 1,
    })
  })

  it('counts what a deploy cost a job that it interrupted', () => {
    const deploys = [{ workerId: 'w1-1', at: 1_000 }]
    expect(judgeWrites(evidence(taken, { deploys }))).toMatchObject({
      deploys: { interrupted: 1, attemptsBurnt: 1 },
    })
    const finished = [write('claimed', 'w1-1', 0), write('finished', 'w1-1', 3_000)]
    expect(judgeWrites(evidence(finished, { deploys }))).toMatchObject({
      deploys: { interrupted: 0, attemptsBurnt: 0 },
    })
  })

  it('counts jobs that are dead although no handler ever failed, and acknowledged jobs that are nowhere', () => {
    expect(judgeWrites(evidence([...taken, write('dead', 'w2-1', 30_000)]))).toMatchObject({ dead: 1 })
    expect(judgeWrites(evidence([]))).toMatchObject({ lost: 1 })
  })
})

const script = fileURLToPath(new URL('../../../scripts/chaos-peers.mjs', import.meta.url))
const bench = fileURLToPath(new URL('../../../bench', import.meta.url))
const node22 = `${bench}/node_modules/node22/bin/node`

function startRun(...args: string[]): ChildProcess {
  return spawn(process.execPath, [script, '--seed', '19', '--minutes', '0.05', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function readAll(run: ChildProcess): Promise<{ code: number; printed: string; progress: string }> {
  let [printed, progress] = ['', '']
  run.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  run.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    progress += chunk
  })
  const [code] = (await once(run, 'close')) as [number]
  return { code, printed, progress }
}

// The peers and their Node are installed by the first `npm run bench` or `npm run chaos:peers`.
describe.skipIf(!existsSync(node22))('npm run chaos:peers, with the peers installed', () => {
  it('puts unstuck and a peer through the same schedule, and says one line for each', {
    timeout: 300_000,
  }, async () => {
    const { code, printed, progress } = await readAll(startRun('--only', 'unstuck,pg-boss', '--json'))
    expect({ code, progress }).toMatchObject({ code: 0 })
    const [ours, theirs] = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(ours).toMatchObject({ contender: 'unstuck', violations: [], stuck: 0, staleWrites: 0 })
    expect(theirs).toMatchObject({ contender: 'pg-boss', version: expect.stringMatching(/^\d/), lost: 0 })
    expect(theirs?.['faults']).toEqual(ours?.['faults'])
    expect(ours?.['finishedOnce']).toBe(ours?.['jobs'])
  })

  it('leaves no process behind when it is interrupted', { timeout: 120_000 }, async () => {
    const run = startRun('--minutes', '5', '--only', 'unstuck')
    let started: number[] = []
    let progress = ''
    run.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      progress += chunk
      if (!progress.includes('faults for') || started.length > 0) return
      started = descendantsOf(run.pid ?? 0)
      run.kill('SIGINT')
    })
    const [code] = (await once(run, 'close')) as [number]
    expect(code).toBe(130)
    // The server, the run, and four workers.
    expect(started.length).toBeGreaterThan(5)
    await untilGone(started)
  })

  it('refuses a contender that it does not know', { timeout: 60_000 }, async () => {
    const { code, progress } = await readAll(startRun('--only', 'absent'))
    expect(code).toBe(2)
    expect(progress).toContain('there is no absent')
  })
})
