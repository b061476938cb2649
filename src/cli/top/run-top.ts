// The live picture: read every second, drawn more often, for leases drain in between.
import type { CommandContext } from '../../commands/command.ts'
import { createPaint } from '../terminal/colour.ts'
import { renderLine } from '../terminal/line.ts'
import { openScreen, type Screen } from '../terminal/screen.ts'
import { type Picture, readPicture } from './read-picture.ts'
import { doAct } from './top-acts.ts'
import { topFrame } from './top-frame.ts'
import { topRows } from './top-rows.ts'
import { firstView, pressKey, type TopView } from './top-view.ts'

const READ_MS = 1_000
const DRAW_MS = 200
const STALE = 'this is old'

/** Settles when somebody leaves: with the signal, or null after the key. */
export async function runTop(context: CommandContext, first: Picture): Promise<NodeJS.Signals | null> {
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
  readonly #context: CommandContext
  readonly #paint = createPaint(process.stdout)
  #resolve: (signal: NodeJS.Signals | null) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #screen: Screen | undefined
  #view: TopView = firstView
  #picture: Picture
  #readAt = performance.now()
  #isReading = false

  constructor(context: CommandContext, picture: Picture) {
    this.#context = context
    this.#picture = picture
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Whatever goes wrong ends the picture, so that it can be told on a terminal that is itself again. */
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
    const lines = topFrame(this.#picture, this.#rows(), this.#view, screen)
    screen.draw(lines.map((line) => renderLine(line, screen.width, this.#paint)))
  }

  async hear(key: string): Promise<void> {
    const { view, act } = pressKey(this.#view, key, this.#rows())
    this.#view = view
    if (act?.kind === 'quit') return this.leave(key === 'ctrl-c' ? 'SIGINT' : null)
    this.draw()
    if (act === null) return
    const change = await doAct(this.#context, act).catch((error: unknown) => ({ message: textOf(error) }))
    this.#view = { ...this.#view, ...change }
    this.draw()
  }

  /** Never two reads at once; where one fails, the old picture stays and says so. */
  async read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#picture = await readPicture(this.#context)
      this.#readAt = performance.now()
      if (this.#view.message?.startsWith(STALE) === true) this.#view = { ...this.#view, message: null }
    } catch (error) {
      this.#view = { ...this.#view, message: `${STALE} (${textOf(error)}); trying again` }
    } finally {
      this.#isReading = false
    }
  }

  #rows() {
    return topRows(this.#picture, this.#view.filter)
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
