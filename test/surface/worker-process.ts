// Starts real worker processes and reads their ledger.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const appOf = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.mjs`, import.meta.url))

export interface Told {
  kind:
    | 'ready'
    | 'started'
    | 'effect'
    | 'ended'
    | 'hung'
    | 'heartbeat-failed'
    | 'claiming'
    | 'draining'
    | 'breaker'
    | 'limit'
    | 'listening'
    | 'not-listening'
    | 'swept'
    | 'claimed'
    | 'settled'
    | 'refused'
  jobId?: string
  fence?: number
  crashes?: number
  end?: string
  code?: string
  leaked?: number
  gatewayStatus?: number | null
  breaker?: string
  reason?: string
  retryInMs?: number
  name?: string
  to?: string
  released?: number
  requeued?: number
}

export interface WorkerProcess {
  child: ChildProcess
  told: Told[]
  /** Settles with the first message that fits, past ones included. */
  until(fits: (told: Told) => boolean): Promise<Told>
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface ProcessOptions {
  /** A module of ./fixtures. */
  app?: string
  env?: Record<string, string>
  /** Another runtime than this one. */
  execPath?: string
}

export function startWorkerProcess(
  databaseUrl: string,
  options: Record<string, unknown> = {},
  { app = 'worker-app', env = {}, execPath = process.execPath }: ProcessOptions = {},
): WorkerProcess {
  const child = fork(appOf(app), [], {
    execPath,
    execArgv: [],
    env: {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: databaseUrl,
      WORKER_OPTIONS: JSON.stringify(options),
      ...env,
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
