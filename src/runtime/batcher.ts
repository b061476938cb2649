// Many calls become one statement without anybody waiting for company: what comes while a call is under way goes together
// in the next. A call that is held up, by a row that somebody else has locked, holds up nothing but what is in it.

export interface Batcher<Item, Answer> {
  add(item: Item): Promise<Answer>
  /** Settles when nothing is under way. */
  idle(): Promise<void>
}

interface Waiting<Item, Answer> {
  item: Item
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

const MAX_BATCH = 500
/** A call that takes longer no longer keeps the next from starting. */
const HELD_UP_MS = 50
/** Each holds a connection. */
const MAX_CALLS = 4
/** So many are worth a call of their own: while one waits for the disk, the next may be sent. */
const WORTHWHILE = 100

/** `call` answers in the order asked. */
export function createBatcher<Item, Answer>(
  call: (items: Item[]) => Promise<Answer[]>,
): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  const underWay = new Set<Promise<void>>()
  /** The newest call, until it ends or is held up. */
  let newest: object | undefined
  let gathering: Promise<void> | undefined

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        // One turn of the loop gathers what the same tick asks for.
        gathering ??= Promise.resolve().then(() => {
          gathering = undefined
          callNext()
        })
      })
    },
    async idle() {
      for (;;) {
        await gathering
        if (underWay.size === 0) return
        await Promise.all(underWay)
      }
    },
  }

  function callNext(): void {
    if (waiting.length === 0 || underWay.size >= MAX_CALLS) return
    if (newest !== undefined && (waiting.length < WORTHWHILE || underWay.size > 1)) return
    const batch = waiting.slice(0, MAX_BATCH)
    waiting = waiting.slice(MAX_BATCH)
    const marker = {}
    const letNextStart = () => {
      if (newest === marker) newest = undefined
      callNext()
    }
    newest = marker
    const timer = setTimeout(letNextStart, HELD_UP_MS)
    const ended = callTogether(batch).finally(() => {
      clearTimeout(timer)
      underWay.delete(ended)
      letNextStart()
    })
    underWay.add(ended)
  }

  async function callTogether(batch: Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await call(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, index) => {
        const answer = answers[index]
        if (answer === undefined) reject(new Error('a batch was answered short'))
        else resolve(answer)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
