// A listener whose calls a test can wait for.
import pg from 'pg'
import { type Listener, type ListenOptions, listen } from '../../src/compose/listen.ts'

export interface Listening extends Listener {
  /** In the order of the calls: `started unstuck.native`, `failed …`, `hint`, `hint in 1000 ms`, `cancels 7`. */
  told: string[]
  /** Settles when so many calls that begin like this were made. */
  until(start: string, count?: number): Promise<void>
}

export function startListening(
  options: Pick<ListenOptions, 'schema' | 'table'> & { databaseUrl: string },
): Listening {
  const told: string[] = []
  const waiting = new Set<() => void>()
  const tell = (text: string) => {
    told.push(text)
    for (const look of waiting) look()
  }
  const listener = listen({
    ...options,
    sendTest: (payload) => sendTest(options.databaseUrl, payload),
    onHint: ({ dueInMs }) => tell(dueInMs === 0 ? 'hint' : `hint in ${dueInMs} ms`),
    onCancels: (leaseNumbers) => tell(`cancels ${leaseNumbers.join(' ')}`),
    onStarted: (channel) => tell(`started ${channel}`),
    onFailed: (reason) => tell(`failed ${reason}`),
  })
  return {
    ...listener,
    told,
    until: (start, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if (told.filter((text) => text.startsWith(start)).length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

async function sendTest(databaseUrl: string, payload: string): Promise<void> {
  const client = new pg.Client(databaseUrl)
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`select pg_notify(unstuck.hint_channel('native'), $1)`, [payload])
  } finally {
    await client.end()
  }
}
