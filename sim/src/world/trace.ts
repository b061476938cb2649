// Everything that happened in a run, line by line. Two runs of a seed have the same lines.
import { createHash } from 'node:crypto'

export interface Line {
  atMs: number
  who: string
  what: string
}

const HASHED_AT_ONCE = 65_536

export class Trace {
  readonly lines: Line[] = []
  readonly #isKept: boolean
  readonly #hash = createHash('sha256')
  /** Lines that are not hashed yet. */
  #text = ''

  constructor(isKept: boolean) {
    this.#isKept = isKept
  }

  add(atMs: number, who: string, what: string): void {
    this.#text += `${Math.round(1_000 * atMs)} ${who} ${what}\n`
    if (this.#text.length > HASHED_AT_ONCE) this.#hashText()
    if (this.#isKept) this.lines.push({ atMs, who, what })
  }

  /** To call once. */
  digest(): string {
    this.#hashText()
    return this.#hash.digest('hex').slice(0, 16)
  }

  #hashText(): void {
    this.#hash.update(this.#text)
    this.#text = ''
  }
}
