// Checks that the benchmark runs and the form of its output, not its speed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Report } from '../../../bench/report/report.ts'

const script = fileURLToPath(new URL('../../../scripts/bench.mjs', import.meta.url))
const smallest = ['--quick', '--jobs', 'small', '--contenders', 'unstuck,raw']
const isSupported = process.platform === 'linux' && process.arch === 'x64'

let out = ''

function startBench(...args: string[]): ChildProcess {
  return spawn(process.execPath, [script, ...smallest, '--out', out, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

// The Node that runs the peers is installed on Linux x64 only.
describe.skipIf(!isSupported)('npm run bench', () => {
  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), 'unstuck-bench-'))
  })
  afterAll(() => rmSync(out, { recursive: true, force: true }))

  it('prints well-formed JSON, and writes it beside Markdown and graphs', async () => {
    const bench = startBench('--only', 'process,heartbeats', '--json')
    let [printed, progress] = ['', '']
    bench.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
    bench.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      progress += chunk
    })
    const [code] = await once(bench, 'close')
    expect({ code, progress }).toMatchObject({ code: 0 })

    const report = JSON.parse(printed) as Report
    expect(report).toMatchObject({
      size: 'small',
      repetitions: 3,
      machine: { cores: expect.any(Number), cpu: expect.any(String) },
      versions: { Node: expect.stringMatching(/^22\./), PostgreSQL: expect.any(String) },
    })
    expect(report.measures.map(({ id }) => id)).toEqual(['process', 'process-2', 'process-off', 'heartbeats'])
    for (const row of report.measures.flatMap(({ rows }) => rows)) {
      expect(row).toMatchObject({ problem: null })
      for (const { runs, min, median, max } of Object.values(row.values)) {
        expect(runs).toHaveLength(3)
        expect([min <= median, median <= max]).toEqual([true, true])
      }
    }
    const raw = report.goals.find(({ work }) => work === 'process / raw SQL')
    expect(raw).toMatchObject({ value: expect.any(Number), isReached: expect.any(Boolean) })

    const written = readdirSync(out).toSorted()
    expect(written.map((name) => name.replace(/^[\d-]+/, ''))).toEqual([
      'process-2.svg',
      'process.svg',
      '.json',
      '.md',
    ])
    const markdown = readFileSync(join(out, written.at(-1) ?? ''), 'utf8')
    expect(markdown).toContain('| unstuck |')
    expect(progress).toContain('process 3/3 raw')
  })

  it('leaves no process behind when it is interrupted', async () => {
    const bench = startBench('--only', 'process')
    const ended = once(bench, 'close')
    const before = readdirSync(out)
    let started = new Set<number>()
    let progress = ''
    bench.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      progress += chunk
      // The servers and a process under test are running by then.
      if (!progress.includes('process 1/3 raw') || started.size > 0) return
      started = descendantsOf(bench.pid ?? 0)
      bench.kill('SIGINT')
    })
    const [code] = await ended
    expect({ code, progress }).toMatchObject({ code: 130 })
    expect(progress).toMatch(/interrupted\n$/)
    expect(readdirSync(out)).toEqual(before)
    expect(started.size).toBeGreaterThan(3)
    await expect
      .poll(() => [...started].filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 30_000 })
      .toEqual([])
  })

  it('names River and leaves it out where it cannot be built', async () => {
    const modules = join(out, 'modules')
    const args = ['--quick', '--jobs', 'small', '--repetitions', '1', '--only', 'enqueue', '--json']
    const bench = spawn(process.execPath, [script, ...args, '--contenders', 'unstuck,river', '--out', out], {
      // No module is there, and none can be fetched.
      env: { ...process.env, GOMODCACHE: modules, GOPROXY: 'off', GOFLAGS: '-modcacherw' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    bench.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
    const [code] = await once(bench, 'close')
    expect(code).toBe(0)
    const [measure] = (JSON.parse(printed) as Report).measures
    expect(measure?.rows).toMatchObject([
      { id: 'unstuck', problem: null },
      { id: 'river', problem: expect.stringMatching(/^(go is not installed|it cannot be built: .+)$/) },
    ])
  })

  it('says what Neo4j needs where it is missing, and leaves with the code of a skip', async () => {
    const bench = spawn(process.execPath, [script, '--store', 'neo4j'], {
      env: { ...process.env, PATH: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    bench.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
    const [code] = await once(bench, 'close')
    expect(said).toContain('the program java is not installed')
    expect(code).toBe(77)
  })

  it('refuses what it does not know', async () => {
    const bench = startBench('--only', 'absent')
    const [code] = await once(bench, 'close')
    expect(code).toBe(2)
  })
})

function descendantsOf(root: number): Set<number> {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readStat(name)
      return stat === null ? [] : [[Number(name), stat] as const]
    })
  const found = new Set([root])
  for (let before = 0; before < found.size; ) {
    before = found.size
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid)
  }
  return found
}

/** Parent pid; null if the process is gone. */
function readStat(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}
