// Maps rows and processes to the screen.
import { acts } from '../acts.ts'
import type { DemoSession } from '../demo-session.ts'
import { demoSettings, isWorker, lateMs, leaseMsOf, workerIdOf } from '../demo-settings.ts'
import type { DemoProcess } from '../processes/demo-process.ts'
import type { HandRolledJob } from '../processes/hand-rolled-table.ts'
import type { WatchedJob } from '../receipt/job-watch.ts'
import { rescueMs } from '../receipt/rescue.ts'
import type { JobView, ScreenView, SideView, WorkerView } from './screen.ts'

export interface ViewParts {
  session: DemoSession
  url: string | null
  playing: ReadonlySet<string>
  log: readonly string[]
}

export function viewOf({ session, url, playing, log }: ViewParts): ScreenView {
  const { watch, gateway } = session
  const isOpen = watch.snapshot.breaker?.state === 'open'
  return {
    database: session.databaseName,
    url,
    inForce: demoSettings.inForce,
    settings: demoSettings.besides.slice(0, 1),
    handRolled: handRolledSide(session),
    unstuck: unstuckSide(session),
    banner: isOpen
      ? 'Gateway busy — jobs will resume automatically.'
      : gateway.isBroken
        ? 'The gateway answers 503.'
        : null,
    playing: [...playing].join(' · '),
    log,
    keys: [...acts.map(({ label }) => label), 'quit'],
  }
}

/** Rows are as old as the last poll: the remaining lease is counted from its expiry. */
function leaseOf(job: WatchedJob, { watch }: DemoSession) {
  const leaseLeftMs = (job.leaseExpiresAt?.getTime() ?? 0) - watch.nowMs()
  return {
    n: job.n,
    leaseLeftMs,
    leaseShare: leaseLeftMs / leaseMsOf(job.type),
    beats: watch.beatsOf(job),
  }
}

function unstuckSide(session: DemoSession): SideView {
  const { watch, workers, outages } = session
  const { jobs } = watch.snapshot
  const running = jobs.filter(({ status }) => status === 'running')
  const ofWorker = (worker: DemoProcess) => running.find(({ workerId }) => isWorker(workerId, worker))
  const count = (status: WatchedJob['status']) => jobs.filter((job) => job.status === status).length
  const slowestMs = Math.max(0, ...watch.rescues.map((rescue) => rescueMs(rescue, outages)))
  const dead = count('dead') === 0 ? '' : `  dead ${count('dead')}`
  const stuck = running.filter((job) => -leaseOf(job, session).leaseLeftMs > lateMs).length
  const slowest = slowestMs === 0 ? '' : ` ≤ ${(slowestMs / 1000).toFixed(1)} s`
  return {
    workers: workers.map((worker) => {
      const job = ofWorker(worker)
      return workerView(worker, job === undefined ? null : leaseOf(job, session))
    }),
    orphans: running
      .filter(({ workerId }) =>
        workers.every(
          (worker) => !isWorker(workerId, worker) || worker.state === 'killed' || worker.state === 'frozen',
        ),
      )
      .map((job) => leaseOf(job, session)),
    totals: `done ${count('succeeded')}  stuck ${stuck}${dead}  rescued ${watch.rescues.length}${slowest}`,
  }
}

function handRolledSide({ watch, handRolledWorkers }: DemoSession): SideView {
  const jobs = watch.snapshot.handRolled
  const processing = jobs.filter(({ status }) => status === 'processing')
  const ids = handRolledWorkers.map(({ name, pid, state }) =>
    state === 'killed' ? '' : workerIdOf(name, pid),
  )
  const viewOfJob = ({ n, ageMs }: HandRolledJob): JobView => ({ n, ageMs: ageMs ?? 0 })
  const stuck = processing.filter(({ worker }) => !ids.includes(worker ?? ''))
  const count = (status: HandRolledJob['status']) => jobs.filter((job) => job.status === status).length
  const failed = count('failed') === 0 ? '' : `  failed ${count('failed')}`
  return {
    workers: handRolledWorkers.map((worker, index) => {
      const job = processing.find((one) => one.worker === ids[index])
      return workerView(worker, job === undefined ? null : viewOfJob(job))
    }),
    orphans: stuck.map(viewOfJob),
    totals: `done ${count('done')}${failed}  stuck ${stuck.length}`,
  }
}

function workerView({ name, pid, state, sinceMs }: DemoProcess, job: JobView | null): WorkerView {
  return { name, pid, state, stateMs: performance.now() - sinceMs, job }
}
