// Real processes: the entry is the built one, which `npm test` makes first.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import { JobAborted, type JobContext } from '../attempt/handler.ts'
import { fileHandler } from './child-handler.ts'

const FILE = new URL('../../../test/surface/fixtures/child-handler.mjs', import.meta.url)
const entryUrl = new URL('../../../dist/runtime/child/handler-child.js', import.meta.url)
const BOUND = { timeout: 30_000, interval: 10 }

let folder: string
let controller: AbortController
let progress: number
let stages: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-child-'))
  controller = new AbortController()
  progress = 0
  stages = []
})
afterEach(() => {
  controller.abort(new JobAborted('shutdown'))
  rmSync(folder, { recursive: true, force: true })
})

const pidFile = () => join(folder, 'pid')

function run(mode: string, { killAfterMs = 2_000 } = {}): Promise<unknown> {
  const job: ClaimedJob = {
    jobId: 'job-1',
    leaseId: 'lease-1',
    type: 'asr',
    queue: 'asr',
    payload: { mode, secret: 'of the payload', file: pidFile() },
    priority: 0,
    stage: 'asr',
    owner: null,
    fence: 7,
    attempt: 1,
    failures: 0,
    crashes: 0,
    timeouts: 0,
    maxAttempts: 3,
    generation: 1,
    createdAt: new Date(),
    startedAt: new Date(),
    expectedDurationMs: null,
    leaseMs: 60_000,
    deadlineMs: null,
    traceparent: null,
    waitedMs: 0,
    isRescue: false,
    runsAlone: false,
  }
  const context: JobContext = {
    signal: controller.signal,
    fence: job.fence,
    isAtRisk: () => false,
    progress: () => void progress++,
    stage: async (name) => {
      if (name === 'refused') throw new UnstuckError('LEASE_LOST', 'the lease is lost')
      stages.push(name)
    },
    spawn: () => Promise.reject(new Error('the child has its own')),
    release: () => {
      throw new Error('the child has its own')
    },
    gateway: () => Promise.reject(new Error('the child has none')),
    tx: () => Promise.reject(new Error('the child has none')),
    ownTx: () => Promise.reject(new Error('the child has none')),
  }
  return Promise.resolve(fileHandler(FILE, { killAfterMs, entryUrl })(job, context))
}

async function thrownBy(mode: string): Promise<unknown> {
  return run(mode).then(
    (result) => expect.unreachable(`it returned ${JSON.stringify(result)}`),
    (error: unknown) => error,
  )
}

async function notedPid(): Promise<number> {
  await vi.waitUntil(() => existsSync(pidFile()) && readFileSync(pidFile(), 'utf8') !== '', BOUND)
  return Number(readFileSync(pidFile(), 'utf8'))
}

/** The dead who wait to be reaped by process 1 do not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

it('WORK-1 the default export of a file runs in another process, with the job and its fence', async () => {
  expect(await run('echo')).toEqual({
    payload: { mode: 'echo', secret: 'of the payload', file: pidFile() },
    fence: 7,
    isDate: true,
    pid: expect.not.closeTo(process.pid, 0) as number,
  })
  expect(await run('nothing')).toBeUndefined()
})

it('FAIL-1 what the handler throws there is judged as if it were thrown here', async () => {
  const permanent = await thrownBy('permanent')
  expect(classifyError(permanent)).toMatchObject({
    code: 'NOT_PDF',
    category: 'PERMANENT',
    reason: 'the document is no PDF',
    isRetryable: false,
    stack: expect.stringContaining('child-handler.mjs') as string,
  })
  expect(classifyError(await thrownBy('gateway'))).toMatchObject({
    code: 'GW_5XX',
    isRetryable: true,
    retryInMs: 1_234,
    gatewayStatus: 503,
  })
  expect(await thrownBy('string')).toBe('just a string')
  expect(isUnstuckError(await thrownBy('unserialisable'), 'INVALID_ARGUMENT')).toBe(true)
})

it('RATE-6 a handler gives its job back from there too', async () => {
  expect(classifyError(await thrownBy('releases'))).toMatchObject({
    release: 'limited',
    retryInMs: 4_000,
    reason: 'the source is locked',
  })
})

it('FAIL-1 an error that nobody caught is how the attempt ended', async () => {
  expect(classifyError(await thrownBy('uncaught'))).toMatchObject({ code: 'IO_ERROR', reason: 'in a timer' })
})

it('WORK-5 messages that the handler itself sends to its parent process are not its answer', async () => {
  expect(await run('chatters')).toBe('its own answer')
  expect(progress).toBe(0)
})

it('LEASE-8 progress and stages go through the worker, and a refusal is thrown to the handler', async () => {
  expect(await run('moves')).toEqual({ name: 'UnstuckError', code: 'LEASE_LOST' })
  expect(progress).toBe(1)
  expect(stages).toEqual(['burnin'])
})

it('LEASE-5 an abort reaches the signal with its cause, and the handler may still answer', async () => {
  const result = run('obeys')
  await notedPid()
  controller.abort(new JobAborted('lease-lost'))
  expect(await result).toEqual({ stopped: 'lease-lost' })
})

it.each(['loops', 'hangs'])('LEASE-8 a handler that %s after an abort is killed', async (mode) => {
  const result = run(mode, { killAfterMs: 200 })
  const pid = await notedPid()
  controller.abort(new JobAborted('deadline'))
  await expect(result).rejects.toMatchObject({ abortCause: 'deadline' })
  expect(isRunning(pid)).toBe(false)
})

it('LEASE-8 what the handler left running is ended before the attempt is', async () => {
  expect(await run('leaves')).toBe('left a program behind')
  expect(isRunning(await notedPid())).toBe(false)
})

it.each([
  ['exits', 'exit code 3'],
  ['is-killed', 'SIGKILL'],
])('FAIL-5 a process that %s without an answer is an error that may pass: %s', async (mode, how) => {
  const error = classifyError(await thrownBy(mode))
  expect(error).toMatchObject({ code: 'CHILD_ENDED', category: 'TRANSIENT', isRetryable: true })
  expect(error.reason).toContain(how)
  expect(error.reason).not.toContain('of the payload')
})

it('WORK-4 a SIGTERM to the whole tree does not end a handler: its worker decides', async () => {
  expect(await run('is-terminated')).toBe('still here')
})

it('WORK-5 a transaction is refused there with what to do instead', async () => {
  expect(await thrownBy('transaction')).toMatchObject({
    name: 'UnstuckError',
    message: expect.stringContaining('belongs to the worker') as string,
  })
})

it('OPS-8 a file that is not there, and an impossible wait, are refused before anything is claimed', () => {
  expect(() => fileHandler('./no-such-file.js')).toThrow(/file: got .*no-such-file/)
  expect(() => fileHandler(new URL('https://example.org/x.js'))).toThrow(/file: got/)
  expect(() => fileHandler(FILE, { killAfterMs: -1 })).toThrow(/killAfterMs: got -1/)
})
