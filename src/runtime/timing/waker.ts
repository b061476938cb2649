/** A pause that news ends early. News that came since the last `reset` ends the next pause at once: nothing is forgotten. */
export class Waker {
  #hasNews = false
  #end: (() => void) | undefined

  reset(): void {
    this.#hasNews = false
  }

  wake(): void {
    this.#hasNews = true
    this.#end?.()
  }

  pause(ms: number): Promise<void> {
    if (this.#hasNews) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end?.(), ms)
      this.#end = () => {
        clearTimeout(timer)
        this.#end = undefined
        resolve()
      }
    })
  }
}
