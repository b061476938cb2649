// Coalesces calls into one statement without adding latency: items that arrive while a call is in flight go together in the
// next. A call that is blocked by a locked row delays only its own items, and a refused item fails alone.

import { timing } from '../timing/timing.ts'
import { isRefusal } from './refusal.ts'

export interface Batcher<Item, Answer> {
  add(item: Item): Promise<Answer>
  /** `add` without a promise: a worker with short jobs would create thousands a second. */
  put(item: Item, asker: Asker<Answer>): void
  /** Resolves when no call is in flight. */
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

const MAX_BATCH = 1_000
/** The next call starts without waiting for one that takes longer. */
const HELD_UP_MS = 50
/** Each call holds a connection. */
const MAX_CALLS = 4
/** This many items start a second call: it can be sent while the first waits for the disk. */
const WORTHWHILE = 100

/** Gathers everything the current turn of the event loop asks for: short jobs end one after the other. */
export const untilNextTurn = () => new Promise<void>((resolve) => timing.setImmediate(resolve))

/** `call` answers in the order of its items. It is made after `pause`, which gathers them. Default: the same microtask. */
export function createBatcher<Item, Answer>(
  call: Call<Item, Answer>,
  pause: () => Promise<void> = () => Promise.resolve(),
): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  const underWay = new Set<Promise<void>>()
  /** The newest call, until it ends or takes too long. */
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
      if (gathering === undefined) callNext()
    }
    newest = marker
    const timer = timing.setTimeout(letNextStart, HELD_UP_MS)
    const ended = callTogether(call, batch).finally(() => {
      timing.clearTimeout(timer)
      underWay.delete(ended)
      letNextStart()
    })
    underWay.add(ended)
  }
}

/** A batcher for each shard: one that is down must not delay the items of the others. */
export function createShardedBatcher<Item, Answer>(
  shardOf: (item: Item) => number,
  create: (shard: number) => Batcher<Item, Answer>,
): Batcher<Item, Answer> {
  const batchers = new Map<number, Batcher<Item, Answer>>()
  const batcherOf = (item: Item) => {
    const shard = shardOf(item)
    const batcher = batchers.get(shard) ?? create(shard)
    batchers.set(shard, batcher)
    return batcher
  }
  return {
    add: (item) => batcherOf(item).add(item),
    put: (item, asker) => batcherOf(item).put(item, asker),
    async idle() {
      await Promise.all(Array.from(batchers.values(), (batcher) => batcher.idle()))
    },
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

/** A refused statement wrote nothing: its halves are sent separately, down to the item that is refused. */
async function callHalves<Item, Answer>(
  call: Call<Item, Answer>,
  batch: Waiting<Item, Answer>[],
): Promise<void> {
  const middle = Math.ceil(batch.length / 2)
  await callTogether(call, batch.slice(0, middle))
  await callTogether(call, batch.slice(middle))
}
