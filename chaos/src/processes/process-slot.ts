// Supervises one worker or reaper: its proxy, its process, and a restart when the process exits.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Disturbances } from '../faults/disturbances.ts'
import { TcpProxy } from '../faults/tcp-proxy.ts'
import { removeClockMemory, type WorkerClock } from '../faults/worker-clock.ts'
import { shardOf } from '../judge/shards.ts'

export type Message = { kind: 'ready' } | { kind: 'arm'; text: string; jobId: string }
export interface SlotOptions {
  name: string
  script: URL
  /** One, or one of each shard. */
  databaseUrls: string[]
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
  /** One to each server. */
  readonly proxies: TcpProxy[]
  #proxyUrls: string[] = []
  exits: { worker: string; code: number | null; signal: string | null }[] = []
  isPaused = false
  restartMs = RESTART_MS

  constructor(options: SlotOptions) {
    this.#options = options
    this.proxies = options.databaseUrls.map((url) => new TcpProxy(Number(new URL(url).port)))
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
    this.#proxyUrls = await Promise.all(
      this.proxies.map(async (proxy, shard) => {
        const url = new URL(this.#options.databaseUrls[shard] ?? '')
        url.port = String(await proxy.listen())
        return url.href
      }),
    )
    await this.#spawn()
  }

  proxyTo(shard: number): TcpProxy {
    const proxy = this.proxies[shard]
    if (proxy === undefined) throw new Error(`${this.name} has no proxy to shard ${shard}`)
    return proxy
  }

  #addresses() {
    const [only] = this.#proxyUrls
    return this.#proxyUrls.length === 1
      ? { DATABASE_URL: only }
      : { UNSTUCK_SHARDS: this.#proxyUrls.join(' ') }
  }

  /** Resolves when the process is ready or has exited. */
  async #spawn() {
    this.#incarnation++
    const { script, env, clock, disturbances } = this.#options
    const worker = this.workerId
    const child = spawn(process.execPath, [fileURLToPath(script)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...env, ...clock?.env(), ...this.#addresses(), CHAOS_WORKER: worker },
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
        else this.#arm(child, message)
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

  #arm(child: ChildProcess, { text, jobId }: { text: string; jobId: string }) {
    const kind = text === 'commit' ? 'directed:commit-answer-lost' : 'directed:complete-answer-lost'
    const end = this.#options.disturbances.begin(this.name, kind)
    const shard = this.proxies.length === 1 ? 0 : shardOf(jobId)
    this.proxyTo(shard).loseAnswerTo(text, () => {
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
    for (const proxy of this.proxies) proxy.close()
  }
}
