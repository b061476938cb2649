// Starts and stops everything that uses the job table: workers and a reaper, each a process behind its own proxy, and a reaper
// in plain SQL.
import { join } from 'node:path'
import type { Disturbances } from '../faults/disturbances.ts'
import { WorkerClock } from '../faults/worker-clock.ts'
import { type ChaosProfile, CONCURRENCY, WORKERS } from '../settings.ts'
import type { CleanUps } from './clean-ups.ts'
import { tableOf } from './database.ts'
import { ProcessSlot } from './process-slot.ts'
import { SqlReaper } from './sql-reaper.ts'

export interface SceneOptions {
  /** One, or one of each shard. */
  databaseUrls: string[]
  sqlReaperUrls: string[]
  /** Roles of the workers, in turn. */
  roles?: string[]
  folder: string
  profile: ChaosProfile
  disturbances: Disturbances
  cleanUps: CleanUps
  onDirected: (kind: string) => void
  workerCount?: number
  /** Concurrency of each worker. */
  concurrency?: number
}

/** Clock offsets of the slots, in turn. */
const WRONG_BY_S = [0, 3_600, -86_400, 7, -3]

export async function startScene(options: SceneOptions) {
  const { folder, profile, disturbances, cleanUps, onDirected, roles = [] } = options
  const ledgerOf = (name: string) => join(folder, `${name}.ledger`)
  const slotOf = (name: string, script: URL, index: number) => {
    const slot = new ProcessSlot({
      name,
      script,
      databaseUrls: options.databaseUrls.map((url) => withUser(url, roles[index % roles.length])),
      env: {
        PATH: process.env['PATH'],
        UNSTUCK_PROFILE: profile,
        UNSTUCK_WEBHOOK_ALLOW_PRIVATE: '1',
        CHAOS_LEDGER: ledgerOf(name),
        CHAOS_CONCURRENCY: String(options.concurrency ?? CONCURRENCY),
      },
      clock: new WorkerClock(join(folder, `${name}.clock`), WRONG_BY_S[index % WRONG_BY_S.length] ?? 0),
      disturbances,
      onDirected,
    })
    cleanUps.addKill(() => slot.close())
    return slot
  }
  const workers = Array.from({ length: options.workerCount ?? WORKERS }, (_, index) =>
    slotOf(`w${index + 1}`, new URL('worker-process.js', import.meta.url), index),
  )
  const reaper = slotOf('reaper', new URL('reaper-process.js', import.meta.url), 1)
  const { attachment } = tableOf(profile)
  const suffix = attachment === 'native' ? '' : `__${attachment}`
  const sqlReapers = options.sqlReaperUrls.map((url) => new SqlReaper(url, suffix))
  await Promise.all([...workers, reaper].map((slot) => slot.start()))
  for (const sqlReaper of sqlReapers) {
    sqlReaper.start()
    cleanUps.add(() => sqlReaper.stop())
  }
  return { workers, reaper, sqlReapers, ledgers: workers.map(({ name }) => ledgerOf(name)) }
}

/** Stops all processes as a deploy would. */
export async function stopScene({
  workers,
  reaper,
  sqlReapers,
}: {
  workers: ProcessSlot[]
  reaper: ProcessSlot
  sqlReapers: SqlReaper[]
}) {
  await Promise.all([...workers, reaper].map((slot) => slot.leave()))
  await Promise.all(sqlReapers.map((sqlReaper) => sqlReaper.stop()))
}

function withUser(databaseUrl: string, user: string | undefined) {
  const url = new URL(databaseUrl)
  if (user !== undefined) url.username = user
  return url.href
}
