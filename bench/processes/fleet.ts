// A fleet of workers in few processes.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { clockMs, pause } from './processes.ts'

export interface FleetPlan {
  workers: number
  /** Default: that of a worker. */
  pollMs?: [number, number]
}

export interface FleetReport {
  claims: number
  looks: number
  /** Workers that each one knows of, at least. */
  knows: number
  /** Since the last report. */
  latenciesMs: number[]
  cpuMs: number
}

export interface Fleet {
  report(): Promise<FleetReport>
  stop(): Promise<void>
}

const child = fileURLToPath(new URL('fleet-child.mjs', import.meta.url))
const PER_PROCESS = 50
const MEET_MS = 60_000
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const started of running) started.kill('SIGKILL')
})

/** Resolves when every worker knows all others. */
export async function startFleet(url: string, { workers, pollMs }: FleetPlan): Promise<Fleet> {
  const sizes = Array.from({ length: Math.ceil(workers / PER_PROCESS) }, (_, index) =>
    Math.min(PER_PROCESS, workers - index * PER_PROCESS),
  )
  const started = await Promise.allSettled(
    sizes.map((size) => startProcess(url, { workers: size, ...(pollMs === undefined ? {} : { pollMs }) })),
  )
  const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = started.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    // The others would go on for ever.
    await Promise.all(processes.map(stopProcess))
    throw failed.reason
  }
  const fleet: Fleet = {
    async report() {
      const reports = await Promise.all(processes.map(ask))
      return {
        claims: sum(reports.map(({ claims }) => claims)),
        looks: sum(reports.map(({ looks }) => looks)),
        knows: Math.min(...reports.map(({ knows }) => knows)),
        latenciesMs: reports.flatMap(({ latenciesMs }) => latenciesMs),
        cpuMs: sum(reports.map(({ cpuMs }) => cpuMs)),
      }
    },
    async stop() {
      await Promise.all(processes.map(stopProcess))
    },
  }
  const giveUpAtMs = clockMs() + MEET_MS
  while ((await fleet.report()).knows < workers) {
    if (clockMs() > giveUpAtMs) {
      await fleet.stop()
      throw new Error(`the ${workers} workers did not find each other`)
    }
    await pause(100)
  }
  return fleet
}

async function startProcess(url: string, plan: FleetPlan): Promise<ChildProcess> {
  const started = fork(child, [url, JSON.stringify(plan)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  running.add(started)
  started.once('exit', () => running.delete(started))
  await Promise.race([
    once(started, 'message'),
    once(started, 'exit').then(([code]) => Promise.reject(new Error(`a fleet ended with ${code}`))),
  ])
  return started
}

async function ask(process: ChildProcess): Promise<FleetReport> {
  const answered = once(process, 'message')
  process.send({})
  const [report] = (await answered) as [FleetReport]
  return report
}

async function stopProcess(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  process.send({ isStop: true })
  const timer = setTimeout(() => process.kill('SIGKILL'), 30_000)
  await once(process, 'exit')
  clearTimeout(timer)
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
