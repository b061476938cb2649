import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { UnstuckError } from '../../errors/index.ts'
import type { Lease } from '../../job/lease.ts'
import type { TableProfile } from '../../profile/profile.ts'

/** Sent over IPC, not in arguments or environment: it contains the database password. */
export interface CanaryTask {
  databaseUrl: string
  schema: string
  table: TableProfile
  jobId: string
  workerId: string
  leaseMs: number
}

export type CanaryOrder = 'finish'
export type CanaryMessage = CanaryClaim | { outcome: string } | { failed: string }
export interface CanaryClaim extends Lease {
  fence: number
}

export interface Canary {
  pid: number
  /** Settles when the process holds the job. */
  claimed: Promise<CanaryClaim>
  /** Completes the job and returns the outcome. */
  finish(): Promise<string>
  /** Sends SIGKILL; settles when the process has ended. */
  kill(): Promise<void>
}

export function startCanary(task: CanaryTask): Canary {
  const child = fork(fileURLToPath(new URL('./canary-process.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const claimed = messageOf(child, task.workerId, (message) => ('leaseId' in message ? message : undefined))
  // The drill may be aborted before anyone awaits this.
  claimed.catch(() => {})
  child.send(task)
  return {
    pid: child.pid ?? 0,
    claimed,
    async finish() {
      const outcome = messageOf(child, task.workerId, (message) =>
        'outcome' in message ? message.outcome : undefined,
      )
      child.send('finish' satisfies CanaryOrder)
      return outcome
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function messageOf<Value>(
  child: ChildProcess,
  workerId: string,
  fits: (message: CanaryMessage) => Value | undefined,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new UnstuckError('INTERNAL', `${workerId}: ${why}`))
    child.on('message', (message: CanaryMessage) => {
      if ('failed' in message) fail(message.failed)
      const value = fits(message)
      if (value !== undefined) resolve(value)
    })
    child.once('error', ({ message }) => fail(message))
    child.once('exit', (code, signal) => fail(`the process ended with ${code ?? signal ?? 'nothing'}`))
  })
}
