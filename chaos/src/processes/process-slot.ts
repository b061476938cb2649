// Supervises one worker or reaper: its proxy, its process, and a restart when the process exits.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Disturbances } from '../faults/disturbances.ts'
import { TcpProxy } from '../faults/tcp-proxy.ts'
import { removeClockMemory, type WorkerClock } from '../faults/worker-clock.ts'

export type Message = { kind: 'ready' } | { kind: 'arm'; text: string }
export interface SlotOptions {
  name: string
  script: URL
  databaseUrl: string
  env: NodeJS.ProcessEnv
  /** Default: the correct time. */
  clock?: WorkerClock
  disturbances: Disturbances
  /** Called after a fault that a job requested. */
  onDirected: (kind: string) => void
}

const RESTART_MS = 200
const START_LIMIT_MS = 60_000

export class ProcessSlot {
  #options
  #incarnation = 0
  #isClosing = false
  #child: ChildProcess | undefined
  #restarting: Promise<void> | undefined
  proxy: TcpProxy
  #proxyUrl = ''
  exits: { worker: string; code: number | null; signal: string | null }[] = []
  isPaused = false
  restartMs = RESTART_MS

  constructor(options: SlotOptions) {
    this.#options = options
    this.proxy = new TcpProxy(Number(new URL(options.databaseUrl).port))
  }

  get clock() {
    return this.#options.clock
  }

  get name() {
    return this.#options.name
  }

  get workerId() {
    return `${this.name}-${this.#incarnation}`
  }

  get pid() {
    return this.#child?.pid
  }

  async start() {
    const url = new URL(this.#options.databaseUrl)
    url.port = String(await this.proxy.listen())
    this.#proxyUrl = url.href
    await this.#spawn()
  }

  /** Resolves when the process is ready or has exited. */
  async #spawn() {
    this.#incarnation++
    const { script, env, clock, disturbances } = this.#options
    const worker = this.workerId
    const child = spawn(process.execPath, [fileURLToPath(script)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...env, ...clock?.env(), DATABASE_URL: this.#proxyUrl, CHAOS_WORKER: worker },
    })
    this.#child = child
    child.once('exit', (code, signal) => {
      this.exits.push({ worker, code, signal })
      removeClockMemory(child.pid)
      disturbances.begin(worker, 'gone')
      if (!this.#isClosing) this.#restarting = this.#restart()
    })
    child.on('error', () => {})
    const ready = new Promise((resolve) => {
      child.on('message', (message: Message) => {
        if (message.kind === 'ready') resolve(undefined)
        else this.#arm(child, message.text)
      })
    })
    await Promise.race([ready, once(child, 'exit'), sleep(START_LIMIT_MS, undefined, { ref: false })])
  }

  async #restart() {
    await sleep(this.restartMs)
    this.restartMs = RESTART_MS
    this.isPaused = false
    if (!this.#isClosing) await this.#spawn()
  }

  #arm(child: ChildProcess, text: string) {
    const kind = text === 'commit' ? 'directed:commit-answer-lost' : 'directed:complete-answer-lost'
    const end = this.#options.disturbances.begin(this.name, kind)
    this.proxy.loseAnswerTo(text, () => {
      end()
      this.#options.onDirected(kind)
    })
    if (child.connected) child.send({ kind: 'armed' }, () => {})
  }

  signal(signal: NodeJS.Signals) {
    this.#child?.kill(signal)
  }

  order(order: { kind: 'block'; durationMs: number } | { kind: 'use-up-pool' }) {
    if (this.#child?.connected) this.#child.send(order, () => {})
  }

  /** Sends SIGTERM and waits until the next process is ready. */
  async redeploy() {
    const child = this.#child
    if (child === undefined) return
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
    await this.#restarting
  }

  /** Sends SIGTERM and waits as long as a deploy would. */
  async leave(limitMs = 30_000) {
    this.#isClosing = true
    const child = this.#child
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit')
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await Promise.race([gone, sleep(limitMs, undefined, { ref: false })])
    }
    this.close()
  }

  /** Also kills a paused process. */
  close() {
    this.#isClosing = true
    this.#child?.kill('SIGKILL')
    this.proxy.close()
  }
}
