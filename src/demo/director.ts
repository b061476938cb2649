// Autoplay: acts one after another, with pauses. A key press takes over: the current act finishes, and nothing follows
// automatically.
import { wait } from '../runtime/timing/wait.ts'
import { type Act, acts } from './acts.ts'
import type { DemoSession } from './demo-session.ts'
import { actNames } from './demo-settings.ts'

/** Pause to see the result of the last act; `--speed` shortens it. Leases and the promise do not change. */
const FIRST_PAUSE_MS = 3_000
const PAUSE_MS = 1_500

export interface DirectorOptions {
  /** Acts to play, in this order. Default: the whole storyboard. */
  acts: readonly string[] | undefined
  speed: number
  /** Requested acts run beside the storyboard instead of taking over. */
  isAuto: boolean
  onError: (error: unknown) => void
}

export class Director {
  /** The current act. */
  readonly playing = new Set<string>()
  readonly #session: DemoSession
  readonly #acts: readonly string[]
  readonly #speed: number
  readonly #isAuto: boolean
  readonly #takeOver = new AbortController()
  readonly #onError: (error: unknown) => void

  constructor(session: DemoSession, options: DirectorOptions) {
    const { acts: chosen, speed, isAuto, onError } = options
    this.#session = session
    this.#acts = chosen ?? actNames
    this.#speed = speed
    this.#isAuto = isAuto
    this.#onError = onError
    session.signal.addEventListener('abort', () => this.#takeOver.abort())
  }

  get hasTakenOver(): boolean {
    return this.#takeOver.signal.aborted
  }

  /** Settles at the end of the storyboard, or when a key took over. */
  async play(): Promise<void> {
    await this.#pause(FIRST_PAUSE_MS)
    for (const name of this.#acts) {
      if (this.hasTakenOver) return
      const act = findAct(name)
      if (act !== undefined) await this.#perform(act)
      await this.#pause(PAUSE_MS)
    }
  }

  /** By key or button. False if no act has this name. */
  perform(name: string): boolean {
    const act = findAct(name)
    if (act === undefined || this.#session.signal.aborted) return false
    if (!this.#isAuto) this.#takeOver.abort()
    void this.#perform(act)
    return true
  }

  /** The current act finishes, and nothing follows. */
  end(): void {
    this.#takeOver.abort()
  }

  #pause(ms: number): Promise<void> {
    return wait(ms / this.#speed, this.#takeOver.signal)
  }

  async #perform(act: Act): Promise<void> {
    this.playing.add(act.title.toLowerCase())
    try {
      await act.run(this.#session)
    } catch (error) {
      if (!this.#session.signal.aborted) this.#onError(error)
    } finally {
      this.playing.delete(act.title.toLowerCase())
    }
  }
}

const findAct = (name: string) => acts.find((act) => act.name === name)
