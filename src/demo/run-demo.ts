// The demo from start to receipt: a screen or plain lines, a dashboard, and no traces at the end.

import { createPaint } from '../cli/terminal/colour.ts'
import { renderLine } from '../cli/terminal/line.ts'
import { printJson, printLine, printProgress, printWrapped } from '../cli/terminal/output.ts'
import { ownCommand } from '../cli/terminal/own-command.ts'
import { openScreen, readKeys, type Screen } from '../cli/terminal/screen.ts'
import { exitCodes } from '../errors/index.ts'
import { acts } from './acts.ts'
import { type DashboardServer, serveDashboard } from './dashboard-server.ts'
import { type DemoSession, openSession } from './demo-session.ts'
import { type Fault, settingLines } from './demo-settings.ts'
import { Director } from './director.ts'
import { isBroken, type Receipt, receiptLines } from './receipt/receipt.ts'
import { drawScreen, SMALLEST } from './screen/screen.ts'
import { viewOf } from './screen/screen-view.ts'

export interface DemoOptions {
  databaseUrl: string | undefined
  seed: number
  acts: readonly string[] | undefined
  speed: number
  /** Null: no dashboard. */
  port: number | null
  isJson: boolean
  /** Ignores keys and ends automatically. */
  isAuto: boolean
  hasScreen: boolean
  fault: Fault | null
}

const REDRAW_MS = 100
const KEPT_LINES = 200
/** `  5.3 s  ` before each line of the log. */
const TIME_WIDTH = 9
const SETTLE_MS = 60_000

export async function runDemo(options: DemoOptions): Promise<void> {
  const demo = new Demo(options)
  const receipt = await demo.run()
  if (receipt === null) {
    process.exitCode = exitCodes.interrupted
    return
  }
  if (options.isJson) printJson(receipt)
  else for (const line of ['', ...receiptLines(receipt, ownCommand())]) printReceiptLine(line)
  if (isBroken(receipt)) process.exitCode = exitCodes.problemFound
}

/** A terminal would break words. */
function printReceiptLine(line: string): void {
  if (line === '') printLine('')
  else printWrapped(`  ${line}`, 4)
}

class Demo {
  readonly #options: DemoOptions
  readonly #ending = new AbortController()
  readonly #closing: (() => Promise<unknown>)[] = []
  readonly #log: string[] = []
  readonly #startedMs = performance.now()
  #screen: Screen | undefined
  #hasAskedToQuit = false
  #quit: () => void = () => {}
  #failure: { error: unknown } | undefined

  constructor(options: DemoOptions) {
    this.#options = options
  }

  /** Null if interrupted. */
  async run(): Promise<Receipt | null> {
    const leave = () => this.#ending.abort()
    for (const signal of signals) process.on(signal, leave)
    try {
      const receipt = await this.#perform()
      if (this.#failure !== undefined) throw this.#failure.error
      return receipt
    } finally {
      await this.#close()
      for (const signal of signals) process.off(signal, leave)
    }
  }

  async #perform(): Promise<Receipt | null> {
    const { databaseUrl, seed, fault } = this.#options
    const { signal } = this.#ending
    this.#say(databaseUrl === undefined ? 'starting PostgreSQL' : 'installing into your database')
    const session = await openSession({ databaseUrl, seed, fault, signal, say: this.#say }, this.#closing)
    this.#say(`${session.databaseName} is up`)
    if (signal.aborted) return null
    const director = new Director(session, { ...this.#options, onError: this.#fail })
    const dashboard = await this.#serve(session, director)
    for (const line of settingLines) this.#say(line)
    const started = session.start(this.#fail)
    await Promise.race([started, aborted(signal)])
    if (signal.aborted) return null
    this.#say(`seed ${seed}: ${session.workers.length} workers on each side, and a reaper`)
    this.#openScreen(session, director, dashboard?.url ?? null)
    if (this.#screen === undefined) this.#hearLines(director)
    const quit = new Promise<void>((resolve) => {
      this.#quit = resolve
    })
    await Promise.race([this.#untilOver(director), quit, aborted(signal)])
    director.end()
    if (signal.aborted) return null
    this.#say('no more jobs; waiting for all to finish')
    if (!(await session.settle(SETTLE_MS)) && !signal.aborted) this.#say('some jobs have not finished')
    return signal.aborted ? null : session.receipt()
  }

  async #untilOver(director: Director): Promise<void> {
    await director.play()
    // After a take-over the user ends the demo.
    if (director.hasTakenOver) await new Promise(() => {})
    while (director.playing.size > 0) await new Promise((resolve) => setTimeout(resolve, REDRAW_MS))
  }

  async #serve(session: DemoSession, director: Director): Promise<DashboardServer | null> {
    const { port } = this.#options
    if (port === null) return null
    const dashboard = await serveDashboard(session, director, port)
    this.#closing.push(() => dashboard.close())
    if (dashboard.port !== port && port !== 0) this.#say(`port ${port} is taken: ${dashboard.port} instead`)
    this.#say(`dashboard: ${dashboard.url}`)
    return dashboard
  }

  #openScreen(session: DemoSession, director: Director, url: string | null): void {
    if (!this.#options.hasScreen) return
    const { columns, rows } = process.stdout
    if (columns < SMALLEST.width || rows < SMALLEST.height)
      return this.#say(
        `the terminal has ${columns} × ${rows} characters, the screen needs ${SMALLEST.width} × ${SMALLEST.height}: plain lines`,
      )
    const draw = () => {
      if (this.#screen === undefined) return
      const { width, height } = this.#screen
      const view = viewOf({ session, url, playing: director.playing, log: this.#log })
      this.#screen.draw(drawScreen(view, { width, height }).map((line) => renderLine(line, width, paint)))
    }
    const paint = createPaint(process.stdout)
    this.#log.length = 0
    this.#screen = openScreen({
      onKey: (key) => this.#hear(key, director),
      onResize: draw,
      onSignal: () => this.#ending.abort(),
    })
    const timer = setInterval(draw, REDRAW_MS)
    this.#closing.push(async () => clearInterval(timer))
  }

  /** Keys work without a screen too, if stdin is a terminal. */
  #hearLines(director: Director): void {
    const { stdin } = process
    if (!stdin.isTTY || this.#options.isAuto) return
    const hear = (bytes: Buffer) => {
      for (const key of readKeys(bytes.toString('utf8'))) this.#hear(key, director)
    }
    this.#say(`keys: ${acts.map(({ key, label }) => `${key} ${label}`).join(' · ')} · q quit`)
    stdin.setRawMode(true)
    stdin.on('data', hear)
    this.#closing.push(async () => {
      stdin.off('data', hear)
      stdin.setRawMode(false)
      stdin.pause()
    })
  }

  #hear(key: string, director: Director): void {
    if (key === 'ctrl-c') return this.#ending.abort()
    if (key.toLowerCase() === 'q') {
      // The second signal exits at once, without a receipt.
      if (this.#hasAskedToQuit) this.#ending.abort()
      this.#hasAskedToQuit = true
      return this.#quit()
    }
    const act = acts.find((one) => one.key === key.toLowerCase())
    if (act !== undefined && !this.#options.isAuto) director.perform(act.name)
  }

  readonly #say = (line: string): void => {
    const timed = `${((performance.now() - this.#startedMs) / 1000).toFixed(1).padStart(5)} s  ${line}`
    this.#log.push(timed)
    if (this.#log.length > KEPT_LINES) this.#log.shift()
    if (this.#screen !== undefined) return
    if (this.#options.isJson) printProgress(timed)
    else printWrapped(timed, TIME_WIDTH)
  }

  readonly #fail = (error: unknown): void => {
    if (this.#ending.signal.aborted) return
    this.#failure = { error }
    this.#ending.abort()
  }

  /** In reverse order; one failure does not skip the others. */
  async #close(): Promise<void> {
    this.#screen?.close()
    this.#screen = undefined
    this.#ending.abort()
    for (const close of this.#closing.toReversed()) {
      await close().catch((error: unknown) =>
        printProgress(`unstuck: not cleaned up: ${error instanceof Error ? error.message : String(error)}`),
      )
    }
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve())
    if (signal.aborted) resolve()
  })
}
