// One worker under test, through the public API. Logs its side effects and the database's responses to a ledger file, one
// write per line, so that each line survives a kill.
import { openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { type ClaimedJob, type JobContext, transientError, unstuck } from 'unstuck'
import { CALLS_THAT_HANG, DELETED_TYPE, LIMITED_QUEUES, POLL_MS } from '../settings.ts'

export type Payload = { workMs: number; fault?: string }
export type Order = { kind: 'block'; durationMs: number } | { kind: 'armed' } | { kind: 'use-up-pool' }

const workerId = process.env['CHAOS_WORKER'] ?? ''
const ledger = openSync(process.env['CHAOS_LEDGER'] ?? '', 'a')
/** Offset from the monotonic clock to the true time: the wall clock of this process is under test. */
const clockOffsetMs = Number(process.env['CHAOS_CLOCK_OFFSET_MS'])
const addEffect = readFileSync(new URL('../../sql/add_effect.sql', import.meta.url), 'utf8')

function note(kind: string, fields: Record<string, unknown>) {
  const at = Math.round(Number(process.hrtime.bigint()) / 1e6 + clockOffsetMs)
  writeSync(ledger, `${JSON.stringify({ kind, at, worker: workerId, pid: process.pid, ...fields })}\n`)
}

const q = unstuck({
  logger: false,
  workerId,
  concurrency: Number(process.env['CHAOS_CONCURRENCY']),
  handleSignals: true,
  graceMs: 4_000,
  hangGraceMs: 1_500,
  txTimeoutMs: 2_000,
  pollMs: POLL_MS,
  leakBudget: 1_000,
  prune: false,
})

const armed: (() => void)[] = []
process.on('message', (order: Order) => {
  if (order.kind === 'armed') armed.shift()?.()
  else if (order.kind === 'use-up-pool') useUpPool()
  else blockLoop(order.durationMs)
})

function blockLoop(durationMs: number) {
  const until = performance.now() + durationMs
  while (performance.now() < until);
}

/** Occupies all connections of the worker with application calls that wait for a lock. */
function useUpPool() {
  for (let call = 0; call < CALLS_THAT_HANG; call++) void q.store.listSchedules().catch(() => {})
}

/** Tells the proxy to lose the response to the next request with this text. */
function loseAnswerTo(text: string, { jobId }: ClaimedJob) {
  return new Promise((resolve) => {
    armed.push(() => resolve(undefined))
    process.send?.({ kind: 'arm', text, jobId })
  })
}

function isDirected(job: ClaimedJob, fault: string) {
  return job.fence === 1 && (job.payload as Payload).fault === fault
}

function die(job: ClaimedJob) {
  note('self-kill', keyOf(job))
  process.kill(process.pid, 'SIGKILL')
}

function keyOf({ jobId, leaseId }: { jobId: string; leaseId: string }) {
  return { job: jobId, lease: leaseId }
}

/** Ignores its abort signal, as the worst handler would. */
async function work(job: ClaimedJob, context: JobContext) {
  if (isDirected(job, 'kill-after-start')) die(job)
  await sleep((job.payload as Payload).workMs)
  note('effect', { ...keyOf(job), isAtRisk: context.isAtRisk() })
  if (isDirected(job, 'kill-after-effect')) die(job)
  if (isDirected(job, 'lose-complete-answer')) await loseAnswerTo('complete_batch', job)
}

q.handle('quick', work)
q.handle('slow', work)
q.handle(DELETED_TYPE, work)
q.handle('limited', work, { limits: [{ key: 'chaos', ratePerS: 20, burst: 10 }] })
q.handle('flaky', async (job, context) => {
  await work(job, context)
  if (job.fence === 1) throw transientError('fails the first time')
})
for (const type of Object.keys(LIMITED_QUEUES))
  q.handle(type, async (job, context) => {
    await work(job, context)
    if (isDirected(job, 'fail-first')) throw transientError('fails the first time')
  })
q.handle('poison', async (job, context) => {
  await work(job, context)
  throw transientError('fails every time')
})
q.handle('hang', async (_, { signal }) => {
  while (!signal.aborted) await sleep(50)
  throw signal.reason
})
q.handle('tx', async (job, { tx }) => {
  await sleep((job.payload as Payload).workMs)
  if (isDirected(job, 'lose-tx-answer')) await loseAnswerTo('commit', job)
  await tx(async (client) => {
    await (client as ClientBase).query(addEffect, [job.jobId, job.leaseId])
    return undefined
  })
})

export type LeaseLike = { jobId: string; leaseId: string }
export type Settle = (leases: LeaseLike[], options?: { tx?: unknown }) => Promise<{ outcome: string }[]>

/** Logs the database's responses, independently of what the worker makes of them. */
function noteAnswers(verb: 'completeJobs' | 'failJobs' | 'releaseJobs') {
  const store = q.store as unknown as Record<typeof verb, Settle>
  const call = store[verb].bind(q.store)
  store[verb] = async (leases, options) => {
    // Inside a transaction a response means nothing before the commit.
    if (options?.tx !== undefined) return call(leases, options)
    try {
      const answers = await call(leases, options)
      for (const [index, lease] of leases.entries())
        note('answered', { verb, ...keyOf(lease), outcome: answers[index]?.outcome })
      return answers
    } catch (error) {
      for (const lease of leases) note('unknown', { verb, ...keyOf(lease), error: String(error) })
      throw error
    }
  }
}

const claimJobs = q.store.claimJobs.bind(q.store)
q.store.claimJobs = async (request) => {
  const from = performance.now()
  const jobs = await claimJobs(request)
  if (jobs.length > 0) note('claimed', { count: jobs.length, ms: performance.now() - from })
  return jobs
}
noteAnswers('completeJobs')
noteAnswers('failJobs')
noteAnswers('releaseJobs')
q.on('job:started', ({ job }) => note('started', { ...keyOf(job), fence: job.fence, attempt: job.attempt }))
q.on('job:ended', ({ job, end }) => note('ended', { ...keyOf(job), end }))
q.on('job:at-risk', ({ job }) => note('at-risk', keyOf(job)))
q.on('job:aborted', ({ job, reason }) => note('aborted', { ...keyOf(job), reason }))
q.on('heartbeat:failed', ({ failingForMs }) => note('beat-failed', { failingForMs }))
q.on('heartbeat:recovered', ({ failedForMs }) => note('beat-recovered', { failedForMs }))
q.on('claim:failed', ({ error }) => note('claim-failed', { error: String(error) }))
q.on('worker:started', () => note('worker-started', {}))
// Exits although handlers may still be running.
process.once('disconnect', () => process.exit(process.exitCode ?? 1))

/** Exits if the database is down or refuses connections: the supervisor restarts the process. */
for (;;) {
  try {
    await q.start()
    break
  } catch (error) {
    note('start-failed', { error: String(error) })
    await sleep(300)
  }
}
process.send?.({ kind: 'ready' })
process.exitCode = await q.ended
note('left', { exitCode: process.exitCode })
process.disconnect?.()
