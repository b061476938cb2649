// waitFor and enqueueAndWait of an application: results and failures of jobs, as values and errors.
import { randomInt } from 'node:crypto'
import {
  type Listener,
  type ListenToWaitsOptions,
  listenToWaits,
  type OpenShard,
  type OpenTable,
} from '../../compose/index.ts'
import type { Config } from '../../config/index.ts'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { JsonValue } from '../../job/job.ts'
import { deletesCompleted, keepsCompleted, type Policy, withOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import { endedByStop, JobWaiter, type ProgressListener } from '../../runtime/calls/job-waiter.ts'
import { within } from '../../runtime/timing/wait.ts'
import { hasCapability } from '../../store/capability.ts'
import type { JobEnd, JobStore } from '../../store/job-store.ts'
import { requireOptions } from '../check-arguments.ts'

export interface WaitOptions {
  /** Default: 30,000. */
  timeoutMs?: number | undefined
  /** The type that the job must have. Default: any. */
  type?: string | undefined
  /** Called with the progress that the job reports, read about once a second. An error that it throws ends the wait. */
  onProgress?: ProgressListener | undefined
}

/** A job that succeeded. */
export interface Success {
  type: string
  result: JsonValue | undefined
}

export interface JobWaitsOptions {
  store: JobStore
  /** The stored policy with this process's overrides. */
  readPolicy(): Promise<Policy>
  /** One for each database. Empty if notifications cannot reach this process. */
  listenOptions(policy: Policy): Promise<NotifyingTable[]>
}

type NotifyingTable = Omit<ListenToWaitsOptions, 'onEnded' | 'onStarted' | 'onFailed'>

const DEFAULT_TIMEOUT_MS = 30_000
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
/** Notifications about one job are asked for this long; longer waits are left to the polls. */
const NOTIFIED_MS = 3_600_000
/** For deleting the waits of a process that stops: they would also end by themselves. */
const LAST_CALL_MS = 1_000
const LARGEST_CHANNEL = 2 ** 31 - 1

export class JobWaits {
  readonly #options: JobWaitsOptions
  readonly #waiter: JobWaiter
  readonly #channel = randomInt(LARGEST_CHANNEL)
  readonly #preparing = new Set<() => void>()
  #isStopped = false
  #policy: Promise<Policy> | undefined
  #listening: Promise<Listener[]> | undefined
  readonly #heard = new Set<NotifyingTable>()

  constructor(options: JobWaitsOptions) {
    this.#options = options
    const { store } = options
    this.#waiter = new JobWaiter({
      store,
      register: async (jobIds) => store.beginWaits?.(jobIds, this.#channel, NOTIFIED_MS),
      unregister: async (jobIds) => store.endWaits?.(jobIds, this.#channel),
    })
  }

  /** Resolves when the job has succeeded, and rejects if it ended otherwise. */
  async waitFor(jobId: string, options: WaitOptions = {}): Promise<Success> {
    if (typeof jobId !== 'string' || jobId === '') throw invalidArgument('jobId', jobId, 'the id of a job')
    const known = ['timeoutMs', 'type', 'onProgress']
    const { timeoutMs = DEFAULT_TIMEOUT_MS, type, onProgress } = checkedOptions('waitFor', options, known)
    if (this.#isStopped) throw endedByStop(jobId)
    await this.#unlessStopped(jobId, this.#prepare(jobId))
    const success = successOf(await this.#waiter.wait(jobId, timeoutMs, onProgress))
    if (type !== undefined && type !== success.type)
      throw invalidArgument('type', type, `the type of job ${jobId}: ${success.type}`)
    return success
  }

  /** A call that is under way when the connections are closed may take long to fail. */
  #unlessStopped(jobId: string, prepared: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(endedByStop(jobId))
      this.#preparing.add(stop)
      void prepared.then(resolve, reject).finally(() => this.#preparing.delete(stop))
    })
  }

  async #prepare(jobId: string): Promise<void> {
    const policy = await this.#readPolicy()
    if (deletesCompleted(policy)) {
      const job = await this.#options.store.getJob(jobId)
      if (job !== null) requireKept(policy, job.type)
    }
    this.#listening ??= this.#listen(policy)
  }

  /** Refuses, before it is enqueued, a job whose result would be gone with its row. */
  async requireKept(type: string, options: WaitOptions = {}): Promise<void> {
    checkedOptions('enqueueAndWait', options, ['timeoutMs', 'onProgress'])
    requireKept(await this.#readPolicy(), type)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const stop of this.#preparing) stop()
    await within(LAST_CALL_MS, this.#waiter.stop())
    const listeners = (await this.#listening?.catch(() => undefined)) ?? []
    await Promise.all(listeners.map((listener) => listener.stop()))
  }

  #readPolicy(): Promise<Policy> {
    this.#policy ??= this.#options.readPolicy().catch((error: unknown) => {
      this.#policy = undefined
      throw error
    })
    return this.#policy
  }

  async #listen(policy: Policy): Promise<Listener[]> {
    const tables = await this.#options.listenOptions(policy).catch(() => [])
    return tables.map((table) =>
      listenToWaits({
        ...table,
        onEnded: (channel) => channel === this.#channel && this.#waiter.poll(),
        onStarted: () => this.#hear(table, true),
        onFailed: () => this.#hear(table, false),
      }),
    )
  }

  /** A database that is not heard is left to the polls. */
  #hear(table: NotifyingTable, isHearing: boolean): void {
    if (isHearing) this.#heard.add(table)
    else this.#heard.delete(table)
    this.#waiter.hear(this.#heard.size > 0)
  }
}

export interface WaitParts {
  open: OpenTable
  config: Config
  table: TableProfile
  /** Undefined for a single database. */
  shards: OpenShard[] | undefined
  directUrl: () => Promise<string | null>
}

export function openJobWaits({ open, config, table, shards, directUrl }: WaitParts): JobWaits {
  const { store, sendWaitHint } = open
  return new JobWaits({
    store,
    readPolicy: async () => withOverride(await store.readPolicy(), config.policy),
    listenOptions: async ({ notify }) => {
      if (notify === 'off' || !hasCapability(store, 'notify')) return []
      if (shards !== undefined) return shards.map(notifyingShard)
      const databaseUrl = await directUrl()
      return databaseUrl === null || sendWaitHint === undefined
        ? []
        : [{ databaseUrl, schema: config.schema, table, sendTest: sendWaitHint }]
    },
  })
}

function notifyingShard({ server, schema, table, sendWaitHint }: OpenShard): NotifyingTable {
  return { databaseUrl: server, schema, table, sendTest: sendWaitHint }
}

function checkedOptions(method: string, options: WaitOptions, known: string[]): WaitOptions {
  requireOptions(method, options, known)
  const { timeoutMs = DEFAULT_TIMEOUT_MS, onProgress } = options
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw invalidArgument('onProgress', onProgress, 'a function')
  const isFine = Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= LONGEST_TIMEOUT_MS
  if (isFine) return options
  throw invalidArgument('timeoutMs', timeoutMs, `a whole number from 1 to ${LONGEST_TIMEOUT_MS}`)
}

function requireKept(policy: Policy, type: string): void {
  if (keepsCompleted(policy, type)) return
  throw new UnstuckError(
    'NOT_SUPPORTED',
    `completed jobs of type ${type} are not kept: nobody can wait for one`,
    {
      details: { type },
      hint: 'Set keepCompleted, or typeKeepCompleted of the type, to true.',
    },
  )
}

function successOf({ jobId, status, type, result, error }: JobEnd): Success {
  if (status === 'gone' || type === null)
    throw new UnstuckError('JOB_NOT_FOUND', `job ${jobId}: no job has this id, or its row was deleted`, {
      details: { jobId },
      hint: 'Rows of ended jobs are deleted by retention, by discard, and at once if keepCompleted is false.',
    })
  if (status === 'succeeded') return { type, result }
  const why = [error?.code, error?.reason].filter((part) => part != null && part !== '').join(': ')
  const details = {
    jobId,
    code: error?.code ?? null,
    reason: error?.reason ?? null,
    category: error?.category ?? null,
  }
  throw status === 'dead'
    ? new UnstuckError('JOB_DEAD', `job ${jobId} is dead: ${why}`, { details })
    : new UnstuckError('JOB_CANCELLED', `job ${jobId} was cancelled: ${why}`, { details })
}
