// A first look: a real worker process dies with a job in its hands, and the job comes back. Every step is printed with its
// time; nothing is staged but the settings, which are shorter than the defaults and said to be.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createInstaller, openDeployment, openDevelopmentDatabase } from '../../compose.ts'
import { type Config, loadConfig } from '../../config/index.ts'
import { nativePolicy } from '../../policy/policy.ts'
import { type Reaper, startReaper } from '../../runtime/reaper.ts'
import type { JobStore } from '../../store/job-store.ts'
import { printLine } from '../output.ts'
import { demoPolicy, demoSchema, type WorkerMessage } from './demo-settings.ts'

const jobCount = 4

export async function runDemo(): Promise<void> {
  const startedAt = performance.now()
  const say = (line: string) =>
    printLine(`${((performance.now() - startedAt) / 1000).toFixed(2).padStart(6)} s  ${line}`)
  const given = loadConfig({ env: process.env })
  const database = await openDevelopmentDatabase(given)
  say(`${database.description} is up`)
  // Its own schema: on somebody's database the demo touches nothing else.
  const config: Config = { ...given, schema: demoSchema, profile: 'native', databaseUrl: database.url }
  const installer = createInstaller(config, database.url)
  try {
    await installer.up()
    say(`native table ${demoSchema}.jobs and its functions are installed`)
    const deployment = openDeployment(config)
    try {
      await tellStory(deployment.tables[0].store, database.url, say)
    } finally {
      await deployment.close()
    }
  } finally {
    await installer.down({ isPurge: true })
    await database.stop()
  }
}

async function tellStory(store: JobStore, databaseUrl: string, say: (line: string) => void): Promise<void> {
  await store.writePolicy(demoPolicy)
  const jobs = await store.enqueueJobs(
    Array.from({ length: jobCount }, (_, n) => ({ type: 'demo', payload: { n } })),
  )
  say(`${jobs.length} jobs enqueued`)

  const victim = await startWorker(databaseUrl, 'worker-1')
  say(
    `worker-1 (pid ${victim.pid}) claimed job ${short(victim.lease.jobId)}: lease ${victim.lease.leaseId.slice(0, 8)}…, fence 1`,
  )
  victim.process.kill('SIGKILL')
  await victim.gone
  const killedAt = performance.now()
  say(`worker-1 was killed with SIGKILL; its job is still running in the table, and nobody works on it`)

  const rescuedAt = await sweepUntilRescued(store, victim.lease.jobId, say)
  const [late] = await store.completeJobs([victim.lease])
  say(`a late result with the dead worker's lease → ${late?.outcome ?? 'nothing'}: 0 rows changed`)

  const second = await startWorker(databaseUrl, 'worker-2', jobCount)
  say(`worker-2 (pid ${second.pid}) claims what is waiting`)
  await second.gone
  const ended = await Promise.all(jobs.map(({ jobId }) => store.getJob(jobId)))
  const done = ended.filter((job) => job?.status === 'succeeded').length
  const rescued = ended.find((job) => job?.id === victim.lease.jobId)
  say(
    `worker-2 finished them; the rescued one on fence ${rescued?.fence ?? '?'}, crashes ${rescued?.crashes ?? '?'}`,
  )

  const promisedMs = demoPolicy.defaultLeaseMs + demoPolicy.sweepIntervalMs
  printLine()
  printLine(
    `  ${jobs.length} jobs in · ${done} done · 0 lost · rescued ${seconds(rescuedAt - killedAt)} after the kill (promised ≤ ${seconds(promisedMs)})`,
  )
  printLine(
    `  Demo settings: lease ${seconds(demoPolicy.defaultLeaseMs)}, sweep ${seconds(demoPolicy.sweepIntervalMs)}, no backoff.`,
  )
  printLine(
    `  Defaults:      lease ${seconds(nativePolicy.defaultLeaseMs)}, sweep ${seconds(nativePolicy.sweepIntervalMs)}, backoff ${seconds(nativePolicy.reapBackoffStepsMs[0] ?? 0)} after the first crash.`,
  )
  if (done !== jobs.length)
    throw new Error(`${jobs.length - done} of ${jobs.length} jobs did not end as succeeded`)
}

async function sweepUntilRescued(
  store: JobStore,
  jobId: string,
  say: (line: string) => void,
): Promise<number> {
  let reaper: Reaper | undefined
  try {
    return await new Promise((resolve, reject) => {
      reaper = startReaper({
        tables: [{ name: 'jobs', store }],
        intervalMs: demoPolicy.sweepIntervalMs,
        onSweep: (_, report) => {
          const job = report.reaped.find((reaped) => reaped.jobId === jobId)
          if (job === undefined) return
          say(
            `the reaper took job ${short(jobId)} back from ${job.workerId ?? '?'} (${job.reason}): waiting again`,
          )
          resolve(performance.now())
        },
        onError: (_, error) => reject(error instanceof Error ? error : new Error(String(error))),
      })
    })
  } finally {
    await reaper?.stop()
  }
}

interface DemoWorker {
  process: ChildProcess
  pid: number
  lease: { jobId: string; leaseId: string }
  gone: Promise<void>
}

/** A real process. It answers with its first lease; `finish` jobs and it leaves by itself. */
function startWorker(databaseUrl: string, workerId: string, finish = 0): Promise<DemoWorker> {
  const child = fork(
    fileURLToPath(new URL('./worker-process.js', import.meta.url)),
    [workerId, String(finish)],
    {
      env: { ...process.env, UNSTUCK_DEMO_URL: databaseUrl },
    },
  )
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) =>
      reject(new Error(`${workerId} ended with ${code} before it claimed anything`)),
    )
    child.once('message', (message: WorkerMessage) =>
      resolve({ process: child, pid: child.pid ?? 0, lease: message, gone }),
    )
  })
}

const short = (id: string) => `…${id.slice(-8)}`
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
