// One stream per browser: the tab that holds the lock shares it with the others. Without locks (a remote page without TLS) or
// channels every tab opens its own stream.
import { type Connection, type LiveListener, LiveSource } from './live-source.ts'
import type { LiveMessage } from './live-state.ts'

type Word =
  | { kind: 'message'; message: LiveMessage; ageMs: number }
  | { kind: 'connection'; connection: Connection }
  /** A tab that has just come asks what is known. */
  | { kind: 'question' }

/** The current state as messages. */
export interface Known {
  messages: { message: LiveMessage; ageMs: number }[]
  connection: Connection
}

interface SharedListener extends LiveListener {
  known(): Known
}

/** Returns the unsubscribe function. */
export function shareLive(listener: SharedListener): () => void {
  const { locks } = navigator as { locks?: LockManager }
  if (locks === undefined || typeof BroadcastChannel === 'undefined') {
    const source = new LiveSource(listener)
    return () => source.close()
  }
  const name = `unstuck.live:${new URL(document.baseURI).pathname}`
  const channel = new BroadcastChannel(name)
  const say = (word: Word) => channel.postMessage(word)
  const leaving = new AbortController()
  let source: LiveSource | null = null

  channel.addEventListener('message', ({ data: word }: MessageEvent<Word>) => {
    const isLeader = source !== null
    if (word.kind === 'question' && isLeader) answer(listener, say)
    else if (word.kind === 'message' && !isLeader) listener.hear(word.message, word.ageMs)
    else if (word.kind === 'connection' && !isLeader) listener.connect(word.connection)
  })
  say({ kind: 'question' })

  const lead = () =>
    new Promise<void>((resolve) => {
      if (leaving.signal.aborted) return resolve()
      source = new LiveSource({
        hear: (message) => {
          listener.hear(message)
          say({ kind: 'message', message, ageMs: 0 })
        },
        connect: (connection) => {
          listener.connect(connection)
          say({ kind: 'connection', connection })
        },
      })
      leaving.signal.addEventListener('abort', () => resolve())
    })
  // Aborting the wait for the lock rejects, which is expected.
  locks.request(name, { signal: leaving.signal }, lead).catch(() => {})
  return () => {
    leaving.abort()
    source?.close()
    channel.close()
  }
}

function answer(listener: SharedListener, say: (word: Word) => void): void {
  const { messages, connection } = listener.known()
  for (const each of messages) say({ kind: 'message', ...each })
  say({ kind: 'connection', connection })
}
