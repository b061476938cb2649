// Looks for jobs that no worker handles: a typo in a type, or a handler that was forgotten, would wait unseen. Only types whose
// workers were never seen count; those of a fleet that is scaled to zero were.
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import {
  findUnhandledTypes,
  UNHANDLED_AFTER_MS,
  type UnhandledSource,
  type UnhandledType,
} from '../../store/find-unhandled-types.ts'
import { repeat } from '../timing/repeat.ts'
import { timing } from '../timing/timing.ts'

export interface UnhandledTypesOptions {
  table: string
  store: UnhandledSource
  events: Pick<RuntimeEventEmitter, 'emit'>
  /** Queues that this worker claims from. */
  queues: string[]
  /** Default: 10 s. */
  firstLookMs?: number
  /** Default: five minutes: at one, 200 idle workers made 0.02 more calls a second each. */
  intervalMs?: number
}

export interface UnhandledTypes {
  /** One sentence per type. */
  problems(): string[]
  stop(): Promise<void>
}

type Unhandled = Omit<UnhandledType, 'wasHandled'>

export function watchUnhandledTypes(options: UnhandledTypesOptions): UnhandledTypes {
  const { table, events, firstLookMs = UNHANDLED_AFTER_MS, intervalMs = 300_000 } = options
  let known = new Map<string, Unhandled>()
  let hasLooked = false
  const repetition = repeat(async (stopping) => {
    if (!hasLooked && firstLookMs > 0) {
      hasLooked = true
      return firstLookMs
    }
    // A store that cannot answer now answers at the next look.
    const found = await findUnhandled(options, stopping).catch(() => known)
    for (const [type, unhandled] of found)
      if (!known.has(type)) events.emit('type:unhandled', { table, ...unhandled })
    known = found
    // Workers that started together look at different times.
    return intervalMs * (0.9 + 0.2 * timing.random())
  })
  return {
    problems: () => Array.from(known.values(), ({ type, reason }) => `jobs of type ${type} wait: ${reason}`),
    stop: () => repetition.stop(),
  }
}

async function findUnhandled(
  { store, queues }: UnhandledTypesOptions,
  stopping: AbortSignal,
): Promise<Map<string, Unhandled>> {
  const found = await findUnhandledTypes(store, ({ queue }) => !queues.includes(queue), stopping)
  const never = found.filter(({ wasHandled }) => !wasHandled)
  return new Map(never.map(({ type, queue, waiting, reason }) => [type, { type, queue, waiting, reason }]))
}
