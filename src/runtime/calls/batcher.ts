// Many calls become one statement without anybody waiting for company: what comes while a call is under way goes together
// in the next. A call that is held up, by a row that somebody else has locked, holds up nothing but what is in it. An item that
// is refused spoils no other.
import { isRefusal } from './refusal.ts'

export interface Batcher<Item, Answer> {
  add(item: Item): Promise<Answer>
  /** The same without a promise: a worker with short jobs would make thousands a second. */
  put(item: Item, asker: Asker<Answer>): void
  /** Settles when nothing is under way. */
  idle(): Promise<void>
}

export interface Asker<Answer> {
  onAnswered(answer: Answer): void
  onFailed(error: unknown): void
}

type Call<Item, Answer> = (items: Item[]) => Promise<Answer[]>

interface Waiting<Item, Answer> {
  item: Item
  asker: Asker<Answer>
}

const MAX_BATCH = 500
/** A call that takes longer no longer keeps the next from starting. */
const HELD_UP_MS = 50
/** Each holds a connection. */
const MAX_CALLS = 4
/** So many are worth a call of their own: while one waits for the disk, the next may be sent. */
const WORTHWHILE = 100

/** Gathers what is asked for before the loop waits for anything, however many steps that takes: short jobs end one after the other. */
export const untilNextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** `call` answers in the order asked. It is made after a `pause`, which gathers: by default what the same step asks for. */
export function createBatcher<Item, Answer>(
  call: Call<Item, Answer>,
  pause: () => Promise<void> = () => Promise.resolve(),
): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  const underWay = new Set<Promise<void>>()
  /** The newest call, until it ends or is held up. */
  let newest: object | undefined
  let gathering: Promise<void> | undefined

  return {
    add: (item) =>
      new Promise((onAnswered, onFailed) => {
        put(item, { onAnswered, onFailed })
      }),
    put,
    async idle() {
      for (;;) {
        await gathering
        if (underWay.size === 0) return
        await Promise.all(underWay)
      }
    },
  }

  function put(item: Item, asker: Asker<Answer>): void {
    waiting.push({ item, asker })
    gathering ??= pause().then(() => {
      gathering = undefined
      callNext()
    })
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
    const ended = callTogether(call, batch).finally(() => {
      clearTimeout(timer)
      underWay.delete(ended)
      letNextStart()
    })
    underWay.add(ended)
  }
}

async function callTogether<Item, Answer>(
  call: Call<Item, Answer>,
  batch: Waiting<Item, Answer>[],
): Promise<void> {
  let answers: Answer[]
  try {
    answers = await call(batch.map(({ item }) => item))
  } catch (error) {
    if (batch.length > 1 && isRefusal(error)) return callHalves(call, batch)
    for (const { asker } of batch) asker.onFailed(error)
    return
  }
  batch.forEach(({ asker }, index) => {
    const answer = answers[index]
    if (answer === undefined) asker.onFailed(new Error('a batch was answered short'))
    else asker.onAnswered(answer)
  })
}

/** A statement writes all or none, so after a refusal its halves may be sent by themselves, down to the one that is refused. */
async function callHalves<Item, Answer>(
  call: Call<Item, Answer>,
  batch: Waiting<Item, Answer>[],
): Promise<void> {
  const middle = Math.ceil(batch.length / 2)
  await callTogether(call, batch.slice(0, middle))
  await callTogether(call, batch.slice(middle))
}
