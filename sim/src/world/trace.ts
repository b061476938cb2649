// Everything that happened in a run, line by line. Two runs of a seed have the same lines.
import { createHash } from 'node:crypto'

export interface Line {
  atMs: number
  who: string
  what: string
}

export class Trace {
  readonly lines: Line[] = []
  readonly #isKept: boolean
  readonly #hash = createHash('sha256')

  constructor(isKept: boolean) {
    this.#isKept = isKept
  }

  add(atMs: number, who: string, what: string): void {
    this.#hash.update(`${atMs.toFixed(3)} ${who} ${what}\n`)
    if (this.#isKept) this.lines.push({ atMs, who, what })
  }

  /** To call once. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }
}
