// How long each breaker has been other than closed, as far as this process knows.

export const breakerStates = ['closed', 'open', 'half-open', 'held'] as const

interface Known {
  state: string
  sinceMs: number
  /** Sum of past periods, without the current one. */
  openMs: number
}

export class BreakerClock {
  readonly #known = new Map<string, Known>()

  note(name: string, state: string, nowMs: number): void {
    const before = this.#known.get(name)
    this.#known.set(name, {
      state,
      sinceMs: nowMs,
      openMs: before === undefined ? 0 : openMsOf(before, nowMs),
    })
  }

  /** Takes the list of all breakers: one that is missing no longer exists. */
  noteAll(breakers: readonly { name: string; state: string }[], nowMs: number): void {
    const found = new Map(breakers.map(({ name, state }) => [name, state]))
    for (const name of new Set([...found.keys(), ...this.#known.keys()])) {
      this.note(name, found.get(name) ?? 'closed', nowMs)
    }
  }

  read(nowMs: number): { name: string; state: string; openMs: number }[] {
    return [...this.#known].map(([name, known]) => ({
      name,
      state: known.state,
      openMs: openMsOf(known, nowMs),
    }))
  }
}

function openMsOf({ state, sinceMs, openMs }: Known, nowMs: number): number {
  return state === 'closed' ? openMs : openMs + (nowMs - sinceMs)
}
