// Many calls become one statement without anybody waiting for company: what comes while a call is under way goes together
// in the next.

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

/** `call` answers in the order asked. */
export function createBatcher<Item, Answer>(
  call: (items: Item[]) => Promise<Answer[]>,
  maxBatch = 500,
): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  let underWay: Promise<void> | undefined

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        // One turn of the loop gathers what the same tick asks for.
        underWay ??= Promise.resolve().then(drain)
      })
    },
    idle: () => underWay ?? Promise.resolve(),
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch)
      waiting = waiting.slice(maxBatch)
      await callTogether(batch)
    }
    underWay = undefined
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
