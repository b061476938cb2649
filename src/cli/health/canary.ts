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
  jobIds: string[]
  workerId: string
  leaseMs: number
  /** Where the process holds its presence lock; null for none. */
  presenceUrl: string | null
}

export type CanaryOrder = 'finish' | 'freeze'
export type CanaryMessage =
  | CanaryClaim
  | { offReason: string | null }
  | { frozen: true }
  | { outcome: string }
  | { failed: string }
export interface CanaryClaim extends Lease {
  fence: number
}

export interface Canary {
  pid: number
  /** Settles when the process holds its presence lock, with null, or with the reason why it cannot. */
  present: Promise<string | null>
  /** Settles when the process holds the job. */
  claimed(jobId: string): Promise<CanaryClaim>
  /** Completes the jobs and returns the first outcome. */
  finish(): Promise<string>
  /** Stops it from sending anything, with its connections open. */
  freeze(): Promise<void>
  /** Sends SIGKILL; settles when the process has ended. */
  kill(): Promise<void>
}

export function startCanary(task: CanaryTask): Canary {
  const child = fork(fileURLToPath(new URL('./canary-process.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  // One listener of each kind for every job.
  child.setMaxListeners(0)
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const told = <Value>(fits: (message: CanaryMessage) => Value | undefined) =>
    messageOf(child, task.workerId, fits)
  const claims = new Map(
    task.jobIds.map((jobId) => [
      jobId,
      told((message) => ('leaseId' in message && message.jobId === jobId ? message : undefined)),
    ]),
  )
  const present = told((message) => ('offReason' in message ? message.offReason : undefined))
  // The drill may be aborted before anyone awaits these.
  for (const coming of [present, ...claims.values()]) coming.catch(() => {})
  child.send(task)
  return {
    pid: child.pid ?? 0,
    present,
    claimed: (jobId) => claims.get(jobId) ?? Promise.reject(new Error(`${jobId} is not its job`)),
    async finish() {
      const outcome = told((message) => ('outcome' in message ? message.outcome : undefined))
      child.send('finish' satisfies CanaryOrder)
      return outcome
    },
    async freeze() {
      const frozen = told((message) => ('frozen' in message ? message : undefined))
      child.send('freeze' satisfies CanaryOrder)
      await frozen
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
