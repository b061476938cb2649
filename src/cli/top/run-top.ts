// The live view: read every second, drawn more often so that lease bars move.
import type { CliContext } from '../connection/with-commands.ts'
import { createPaint } from '../terminal/colour.ts'
import { renderLine } from '../terminal/line.ts'
import { openScreen, type Screen } from '../terminal/screen.ts'
import { readSnapshot, type Snapshot } from './read-snapshot.ts'
import { perform } from './top-actions.ts'
import { topFrame } from './top-frame.ts'
import { topRows } from './top-rows.ts'
import { firstView, pressKey, type TopView } from './top-view.ts'

const READ_MS = 1_000
const DRAW_MS = 200
const STALE = 'out of date'

/** Settles on exit: with the signal, or null after the quit key. */
export async function runTop(context: CliContext, first: Snapshot): Promise<NodeJS.Signals | null> {
  const top = new Top(context, first)
  const screen = openScreen({
    onKey: (key) => top.attempt(() => top.hear(key)),
    onResize: () => top.attempt(() => top.draw()),
    onSignal: (signal) => top.leave(signal),
  })
  const drawing = setInterval(() => top.attempt(() => top.draw()), DRAW_MS)
  const reading = setInterval(() => top.attempt(() => top.read()), READ_MS)
  try {
    top.attempt(() => top.show(screen))
    return await top.ended
  } finally {
    clearInterval(drawing)
    clearInterval(reading)
    screen.close()
  }
}

class Top {
  readonly ended: Promise<NodeJS.Signals | null>
  readonly #context: CliContext
  readonly #paint = createPaint(process.stdout)
  #resolve: (signal: NodeJS.Signals | null) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #screen: Screen | undefined
  #view: TopView = firstView
  #snapshot: Snapshot
  #readAt = performance.now()
  #isReading = false

  constructor(context: CliContext, snapshot: Snapshot) {
    this.#context = context
    this.#snapshot = snapshot
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** An error ends the view first, so that it is printed on a restored terminal. */
  attempt(work: () => void | Promise<void>): void {
    const done = async () => work()
    done().catch(this.#reject)
  }

  leave(signal: NodeJS.Signals | null): void {
    this.#resolve(signal)
  }

  show(screen: Screen): void {
    this.#screen = screen
    this.draw()
  }

  draw(): void {
    const screen = this.#screen
    if (screen === undefined) return
    this.#view = { ...this.#view, elapsedMs: performance.now() - this.#readAt }
    const lines = topFrame(this.#snapshot, this.#rows(), this.#view, screen)
    screen.draw(lines.map((line) => renderLine(line, screen.width, this.#paint)))
  }

  async hear(key: string): Promise<void> {
    const { view, action } = pressKey(this.#view, key, this.#rows())
    this.#view = view
    if (action?.kind === 'quit') return this.leave(key === 'ctrl-c' ? 'SIGINT' : null)
    this.draw()
    if (action === null) return
    const change = await perform(this.#context, action).catch((error: unknown) => ({
      message: textOf(error),
    }))
    this.#view = { ...this.#view, ...change }
    this.draw()
  }

  /** One read at a time; if it fails, the old snapshot stays, marked as out of date. */
  async read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#snapshot = await readSnapshot(this.#context)
      this.#readAt = performance.now()
      if (this.#view.message?.startsWith(STALE) === true) this.#view = { ...this.#view, message: null }
    } catch (error) {
      this.#view = { ...this.#view, message: `${STALE} (${textOf(error)}); trying again` }
    } finally {
      this.#isReading = false
    }
  }

  #rows() {
    return topRows(this.#snapshot, this.#view.filter)
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
