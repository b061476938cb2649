import { timing } from './timing.ts'

/** A pause that `wake` ends early. A `wake` since the last `reset` ends the next pause at once, so none is missed. */
export class Waker {
  #isWoken = false
  #end: (() => void) | undefined

  reset(): void {
    this.#isWoken = false
  }

  wake(): void {
    this.#isWoken = true
    this.#end?.()
  }

  pause(ms: number): Promise<void> {
    if (this.#isWoken) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = timing.setTimeout(() => this.#end?.(), ms)
      this.#end = () => {
        timing.clearTimeout(timer)
        this.#end = undefined
        resolve()
      }
    })
  }
}
