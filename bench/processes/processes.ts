// Starts the processes under test and collects their reports.
import { type ChildProcess, fork, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Addition, ContenderId, TimedClaim, WorkerReport, WorkPlan } from '../contenders/contender.ts'
import { loadContender } from '../contenders/load-contender.mjs'

const child = fileURLToPath(new URL('child.mjs', import.meta.url))
const running = new Set<ChildProcess>()
// An interrupted bench leaves no process behind.
process.on('exit', () => {
  for (const process of running) process.kill('SIGKILL')
})

export const clockMs = (): number => performance.timeOrigin + performance.now()
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export interface ProcessOptions {
  nodeOptions?: string[]
  /** Another Node than that of the bench. */
  node?: string
  /** Another program instead of `child.mjs`. */
  program?: string | undefined
  /** For a process that is expected to crash. */
  isSilent?: boolean
}

function start(args: string[], options: ProcessOptions = {}): ChildProcess {
  const { nodeOptions = [], isSilent = false, node = process.execPath, program } = options
  const stdio: StdioOptions = ['ignore', 'ignore', isSilent ? 'ignore' : 'inherit', 'ipc']
  const execArgv = [...process.execArgv, ...nodeOptions]
  const started =
    program === undefined
      ? fork(child, args, { execPath: node, execArgv, stdio })
      : spawn(program, args, { stdio })
  running.add(started)
  started.once('exit', () => running.delete(started))
  return started
}

async function stopProcess(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  process.send({ isStop: true })
  const timer = setTimeout(() => process.kill('SIGKILL'), 10_000)
  await once(process, 'exit')
  clearTimeout(timer)
}

const nothing: WorkerReport = {
  handled: 0,
  ended: 0,
  firstAtMs: null,
  latenciesMs: [],
  rssMb: 0,
  cpuMs: 0,
  processCpuMs: 0,
}

export interface BenchWorker {
  pid: number
  forkedAtMs: number
  /** Its last report; it sends one every 20 ms while the numbers of its jobs change. */
  report(): WorkerReport
  /** A report of now. */
  ask(): Promise<WorkerReport>
  /** Default: SIGKILL. */
  kill(signal?: NodeJS.Signals): void
  /** The process ends itself. */
  end(how: 'exit' | 'uncaught' | 'memory'): void
  exitedAtMs: Promise<number>
  stop(): Promise<void>
}

export async function startBenchWorker(
  id: ContenderId,
  url: string,
  role: 'work' | 'handle' | 'work-by-default' = 'work',
  options: ProcessOptions & { plan?: WorkPlan } = {},
): Promise<BenchWorker> {
  const { program } = await loadContender(id)
  const forkedAtMs = clockMs()
  const process = start([role, id, url, JSON.stringify(options.plan ?? {})], { ...options, program })
  const exitedAtMs = once(process, 'exit').then(clockMs)
  let report = nothing
  let onAnswer = (_answer: WorkerReport) => {}
  await new Promise<void>((resolve, reject) => {
    process.on('message', (message: (WorkerReport & { isAnswer?: true }) | { isReady: true }) => {
      if ('isReady' in message) return resolve()
      report = { ...message, latenciesMs: [...report.latenciesMs, ...message.latenciesMs] }
      if (message.isAnswer === true) onAnswer(report)
    })
    process.once('error', reject)
    process.once('exit', (code) => reject(new Error(`a worker of ${id} ended with ${code}`)))
  })
  return {
    pid: process.pid ?? 0,
    forkedAtMs,
    report: () => report,
    ask: () =>
      new Promise((resolve, reject) => {
        onAnswer = resolve
        process.once('exit', (code) => reject(new Error(`a worker of ${id} ended with ${code}`)))
        process.send({ isAsk: true })
      }),
    kill: (signal = 'SIGKILL') => void process.kill(signal),
    end: (how) => void process.send({ end: how }),
    exitedAtMs,
    stop: () => stopProcess(process),
  }
}

/** Duration of each in ms; null if the contender does not support it. */
export async function addJobs(
  id: ContenderId,
  url: string,
  additions: Addition[],
): Promise<(number | null)[]> {
  const { program } = await loadContender(id)
  const process = start(['add', id, url, JSON.stringify(additions)], { program })
  let elapsedMs: (number | null)[] = []
  process.on('message', (message: { elapsedMs: (number | null)[] }) => {
    elapsedMs = message.elapsedMs
  })
  await once(process, 'exit')
  if (process.exitCode !== 0) throw new Error(`a producer of ${id} ended with ${process.exitCode}`)
  return elapsedMs
}

/** Starts processes that only burn CPU. */
export function startLoad(count: number): { stop(): void } {
  const processes = Array.from({ length: count }, () => start(['burn']))
  return {
    stop() {
      for (const process of processes) process.kill('SIGKILL')
    },
  }
}

/** Claims one job after another from a queue of the native table. */
export async function startClaims(queue: string, url: string): Promise<{ stop(): Promise<TimedClaim[]> }> {
  const process = start(['claim', queue, url])
  let claims: TimedClaim[] = []
  await new Promise<void>((resolve, reject) => {
    process.on('message', (message: { isReady: true } | { claims: TimedClaim[] }) => {
      if ('isReady' in message) resolve()
      else claims = message.claims
    })
    process.once('exit', (code) => reject(new Error(`the claiming process ended with ${code}`)))
  })
  return {
    async stop() {
      await stopProcess(process)
      return claims
    },
  }
}
