// A slot for a demo process: started, killed, frozen, restarted. Each is a real process with a watchdog: none outlives the
// demo, even if stopped or blocked.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type ChildWatchdog, startChildWatchdog } from '../../runtime/child/child-watchdog.ts'
import { type FromProcess, type ProcessSettings, restartMs } from '../demo-settings.ts'

export type ProcessState = 'starting' | 'ready' | 'frozen' | 'killed'

export interface DemoProcessOptions {
  entry: 'worker-process' | 'reaper-process' | 'hand-rolled-process'
  settings: ProcessSettings
  /** Working directory without a config file: its settings would interfere. */
  folder: string
  onMessage?: (message: FromProcess, process: DemoProcess) => void
  onDeath?: (process: DemoProcess) => void
}

const KILL_GRACE_MS = 200
/** Maximum number of restarts after unexpected exits. */
const MAX_FAILED_STARTS = 3

export class DemoProcess {
  readonly name: string
  state: ProcessState = 'starting'
  /** Time of the last change, from `performance.now()`. */
  sinceMs = performance.now()
  pid = 0
  readonly #options: DemoProcessOptions
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isEnded = false
  /** Stays down until started again. */
  #isHeld = false
  #failedStarts = 0
  #stderr = ''
  #waiting: ((error?: Error) => void)[] = []

  constructor(options: DemoProcessOptions) {
    this.#options = options
    this.name = options.settings.name
  }

  /** Settles when the process has reported that it is ready. */
  async start(): Promise<void> {
    this.#isHeld = false
    const ready = new Promise<void>((resolve, reject) => {
      this.#waiting.push((error) => (error === undefined ? resolve() : reject(error)))
    })
    await Promise.all([ready, this.#launch()])
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Killed; only `start` restarts it. */
  hold(): void {
    this.#isHeld = true
    clearTimeout(this.#timer)
    this.kill()
  }

  freeze(): void {
    if (this.#child?.kill('SIGSTOP') === true) this.#enter('frozen')
  }

  thaw(): void {
    if (this.state === 'frozen' && this.#child?.kill('SIGCONT') === true) this.#enter('ready')
  }

  /** Stops it permanently. */
  async end(): Promise<void> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.kill()
    await this.#exited
  }

  async #launch(): Promise<void> {
    const { folder, entry } = this.#options
    this.#enter('starting')
    const watchdog = process.platform === 'win32' ? undefined : await startChildWatchdog(KILL_GRACE_MS)
    if (this.#isEnded || this.#isHeld) {
      this.#settle()
      return watchdog?.stop()
    }
    const child = fork(fileURLToPath(new URL(`./${entry}.js`, import.meta.url)), [], {
      cwd: folder,
      env: this.#environment(watchdog),
      execArgv: [],
      // The watchdog kills a process group; Ctrl-C must only reach the demo.
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    if (child.pid !== undefined) watchdog?.watch(child.pid)
    this.#child = child
    this.pid = child.pid ?? 0
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-2_000)
    })
    child.on('message', (message: FromProcess) => this.#hear(message))
    child.on('error', () => {})
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code) => {
        void watchdog?.stop().then(resolve)
        this.#die(code)
      })
    })
  }

  /** Without the caller's settings: the demo has its own. */
  #environment(watchdog: ChildWatchdog | undefined): NodeJS.ProcessEnv {
    const { settings } = this.#options
    const kept = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot', 'NODE_EXTRA_CA_CERTS'].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    return {
      ...Object.fromEntries(kept),
      GATEWAY_URL: settings.gatewayUrl,
      DEMO_PROCESS: JSON.stringify(settings),
      ...watchdog?.environment,
    }
  }

  #hear(message: FromProcess): void {
    if (message.kind === 'ready' && this.state === 'starting') {
      this.#failedStarts = 0
      this.#enter('ready')
      this.#settle()
    }
    this.#options.onMessage?.(message, this)
  }

  #die(code: number | null): void {
    const wasStarting = this.state === 'starting'
    this.#enter('killed')
    if (this.#isEnded) return this.#settle()
    if (code !== null && wasStarting && ++this.#failedStarts >= MAX_FAILED_STARTS)
      return this.#settle(new Error(`${this.name} ended with code ${code}: ${this.#stderr.trim()}`))
    this.#options.onDeath?.(this)
    if (!this.#isHeld) this.#timer = setTimeout(() => void this.#launch(), restartMs)
  }

  #enter(state: ProcessState): void {
    this.state = state
    this.sinceMs = performance.now()
  }

  #settle(error?: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const settle of waiting) settle(error)
  }
}
