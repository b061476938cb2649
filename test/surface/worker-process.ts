// Starts real worker processes and reads their ledger.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const app = fileURLToPath(new URL('./fixtures/worker-app.mjs', import.meta.url))

export interface Told {
  kind: 'ready' | 'started' | 'effect' | 'ended' | 'hung' | 'heartbeat-failed'
  jobId?: string
  fence?: number
  end?: string
  code?: string
  leaked?: number
}

export interface WorkerProcess {
  child: ChildProcess
  told: Told[]
  /** Settles with the first message that fits, past ones included. */
  until(fits: (told: Told) => boolean): Promise<Told>
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export function startWorkerProcess(
  databaseUrl: string,
  options: Record<string, unknown> = {},
): WorkerProcess {
  const child = fork(app, [], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: databaseUrl,
      WORKER_OPTIONS: JSON.stringify(options),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const told: Told[] = []
  const listeners = new Set<() => void>()
  child.on('message', (message: Told) => {
    told.push(message)
    for (const listener of listeners) listener()
  })
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  return {
    child,
    told,
    ended,
    until: (fits) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = told.find(fits)
          if (found !== undefined) resolve(found)
        }
        listeners.add(look)
        void ended.then(({ code, signal }) =>
          reject(new Error(`the worker ended with ${code ?? signal} before that`)),
        )
        look()
      }),
  }
}
