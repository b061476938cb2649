// Faults that the director, a key or a dashboard button injects. An act announces itself, hits real processes, and waits until
// the rows show the result.
import { wait } from '../runtime/timing/wait.ts'
import type { DemoSession } from './demo-session.ts'
import { actNames, blockMs, demoPolicy, isWorker, leaseMsOf, workerIdOf } from './demo-settings.ts'
import type { DemoProcess } from './processes/demo-process.ts'
import type { WatchedJob } from './receipt/job-watch.ts'

export interface Act {
  name: string
  key: string
  /** Title on the screen. */
  label: string
  /** Label of the dashboard button. */
  title: string
  run(session: DemoSession): Promise<void>
}

const known: readonly Act[] = [
  { name: 'kill', key: 'k', label: 'kill -9', title: 'Kill -9 a worker', run: kill },
  { name: 'freeze', key: 'f', label: 'freeze', title: 'Freeze a worker', run: freeze },
  { name: 'block', key: 'b', label: 'block loop', title: 'Block an event loop', run: block },
  { name: 'gateway', key: 'g', label: 'gateway', title: 'Break the gateway', run: breakGateway },
  { name: 'poison', key: 'p', label: 'poison', title: 'Poison job', run: poison },
  { name: 'down', key: 'a', label: 'all down', title: 'Everything down', run: allDown },
]

export const acts = known.filter(({ name }) => actNames.includes(name))

/** How long an act waits for a busy worker. */
const BUSY_LIMIT_MS = 15_000
const FREEZE_LIMIT_MS = 30_000
const BROKEN_MS = 2_500
const DOWN_MS = 2_500
/** How long it waits until every worker has a job to lose. */
const FILL_LIMIT_MS = 3_000
const BURST = 3

interface Victim {
  process: DemoProcess
  job: WatchedJob
}

/** A worker in the middle of a job that was not rescued before: only the poison job may use up its crash budget. */
async function findBusy(
  session: DemoSession,
  isWanted: (job: WatchedJob) => boolean,
): Promise<Victim | undefined> {
  let found: Victim[] = []
  await session.watch.until(({ jobs }) => {
    found = jobs
      .filter(({ status, crashes, type }) => status === 'running' && crashes === 0 && type !== 'poison')
      .filter((job) => isWanted(job) && hasTimeLeft(job, session.watch.nowMs()))
      .flatMap((job) => {
        const process = session.workers.find((worker) => isWorker(job.workerId, worker))
        return process?.state === 'ready' ? [{ process, job }] : []
      })
    return found.length > 0
  }, BUSY_LIMIT_MS)
  return found[Math.floor(session.random() * found.length)]
}

/** Long enough to be still running when the signal arrives. */
const LEAST_LEFT_MS = 500

function hasTimeLeft({ payload, lastAttemptAt }: WatchedJob, nowMs: number): boolean {
  const { durationMs } = payload as unknown as { durationMs: number }
  return lastAttemptAt !== null && lastAttemptAt.getTime() + durationMs - nowMs > LEAST_LEFT_MS
}

function busyHandRolled({ handRolledWorkers, watch }: DemoSession): DemoProcess[] {
  return handRolledWorkers.filter(
    ({ state, name, pid }) =>
      state === 'ready' &&
      watch.snapshot.handRolled.some(
        ({ status, worker }) => status === 'processing' && worker === workerIdOf(name, pid),
      ),
  )
}

function findHandRolled(session: DemoSession): DemoProcess | undefined {
  const busy = busyHandRolled(session)
  return busy[Math.floor(session.random() * busy.length)]
}

function isEverybodyBusy(session: DemoSession): boolean {
  const { workers, handRolledWorkers, watch } = session
  const running = watch.snapshot.jobs.filter(({ status }) => status === 'running')
  return running.length >= workers.length && busyHandRolled(session).length === handRolledWorkers.length
}

async function kill(session: DemoSession): Promise<void> {
  const n = await session.feed.add('render', true)
  const victim = await findBusy(session, (job) => job.n === n)
  if (victim === undefined) return session.say('kill -9: no worker is busy')
  const { process, job } = victim
  const other = findHandRolled(session)
  session.say(
    `kill -9 ${process.pid} (${process.name}, running job ${n}, lease ${leaseMsOf(job.type) / 1000} s)${other === undefined ? '' : `, and ${other.pid} on the left`}`,
  )
  process.kill()
  other?.kill()
  await untilEnded(session, job)
}

async function freeze(session: DemoSession): Promise<void> {
  const victim = await findBusy(session, ({ type }) => type !== 'render')
  if (victim === undefined) return session.say('freeze: no worker is busy')
  const { process, job } = victim
  const other = findHandRolled(session)
  const lateWrites = session.lateWrites.length
  session.say(`freeze ${process.pid} (${process.name}, SIGSTOP, running job ${job.n})`)
  process.freeze()
  other?.freeze()
  const hasMoved = await session.watch.until(
    ({ jobs }) => jobs.some(({ id, fence }) => id === job.id && fence > job.fence),
    FREEZE_LIMIT_MS,
  )
  const claimed = session.watch.job(job.n)
  session.say(
    hasMoved
      ? `job ${job.n} runs elsewhere, with fence ${claimed?.fence ?? '?'}; SIGCONT for ${process.name}`
      : `job ${job.n} had ended before; SIGCONT for ${process.name}`,
  )
  process.thaw()
  other?.thaw()
  if (hasMoved) await session.watch.until(() => session.lateWrites.length > lateWrites, FREEZE_LIMIT_MS)
  await untilEnded(session, job)
}

async function block(session: DemoSession): Promise<void> {
  const n = await session.feed.add('block', true)
  session.say(
    `job ${n} blocks its event loop for ${blockMs / 1000} s; its lease is ${demoPolicy.defaultLeaseMs / 1000} s`,
  )
  await session.watch.until(() => hasEnded(session.watch.job(n)))
  const job = session.watch.job(n)
  if (job?.status === 'succeeded' && job.crashes === 0)
    session.say(`job ${n} kept its lease: heartbeats have their own thread`)
}

async function breakGateway(session: DemoSession): Promise<void> {
  const { gateway, watch, say, signal } = session
  if (gateway.isBroken) {
    gateway.isBroken = false
    return say('the gateway works again')
  }
  gateway.isBroken = true
  say('the gateway now answers 503')
  for (let count = 0; count < BURST; count++) await session.feed.add('convert', true)
  if (!(await watch.until(({ breaker }) => breaker?.state === 'open'))) return
  const held = heldJobs(session)
  say(`breaker open: ${held.size} jobs held`)
  await wait(BROKEN_MS, signal)
  const spent = attemptsSince(session, held)
  session.breakerAttempts += spent
  gateway.isBroken = false
  say(`the gateway works again; ${held.size} held jobs spent ${spent} attempts`)
  await watch.until(({ breaker }) => breaker?.state === 'closed')
  say('breaker closed by health probes')
  await watch.until(({ jobs }) => jobs.every((job) => !held.has(job.id) || hasEnded(job)))
}

function heldJobs({ watch }: DemoSession): Map<string, number> {
  const waiting = watch.snapshot.jobs.filter(({ type, status }) => type === 'convert' && status === 'waiting')
  return new Map(waiting.map(({ id, attempt }) => [id, attempt]))
}

function attemptsSince({ watch }: DemoSession, held: ReadonlyMap<string, number>): number {
  return watch.snapshot.jobs.reduce((sum, { id, attempt }) => sum + attempt - (held.get(id) ?? attempt), 0)
}

async function poison(session: DemoSession): Promise<void> {
  const n = await session.feed.add('poison', true)
  session.say(`job ${n} is poison: it kills every worker that runs it`)
  await session.watch.until(() => hasEnded(session.watch.job(n)))
  const job = session.watch.job(n)
  if (job?.status === 'dead')
    session.say(`job ${n} is a dead letter after ${job.crashes} workers; the others go on`)
}

async function allDown(session: DemoSession): Promise<void> {
  const { watch, workers, handRolledWorkers, reaper, say, signal } = session
  const all = session.processes()
  const isDown = () => all.every(({ state }) => state === 'killed')
  for (let count = 0; count < 2 * workers.length; count++) await session.feed.add('plain', true)
  await watch.until(() => isEverybodyBusy(session), FILL_LIMIT_MS)
  say(`kill -9 for all ${workers.length} workers of each side, and the reaper`)
  for (const process of all) process.hold()
  await watch.until(isDown)
  const fromMs = watch.nowMs()
  const held = watch.snapshot.jobs.filter(({ status }) => status === 'running')
  await wait(DOWN_MS, signal)
  if (signal.aborted) return
  say('one worker restarts on each side')
  const [first, ...others] = workers
  const [firstByHand, ...othersByHand] = handRolledWorkers
  await Promise.all([first?.start(), firstByHand?.start()])
  session.outages.push({ fromMs: fromMs - demoPolicy.sweepIntervalMs, toMs: watch.nowMs() })
  const isCutOff = ({ id, status, crashes }: WatchedJob) =>
    status === 'running' && held.some((job) => job.id === id && job.crashes === crashes)
  await watch.until(({ jobs }) => !jobs.some(isCutOff))
  say(held.length === 1 ? 'the interrupted job is back' : `the ${held.length} interrupted jobs are back`)
  await Promise.all([...others, ...othersByHand, reaper].map((process) => process.start()))
  await watch.until(({ jobs }) => jobs.every((job) => !held.some(({ id }) => id === job.id) || hasEnded(job)))
}

async function untilEnded({ watch }: DemoSession, { id }: WatchedJob): Promise<void> {
  await watch.until(({ jobs }) => jobs.some((job) => job.id === id && hasEnded(job)))
}

function hasEnded(job: WatchedJob | undefined): boolean {
  return job !== undefined && job.status !== 'waiting' && job.status !== 'running'
}
