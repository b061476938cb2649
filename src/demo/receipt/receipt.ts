// The receipt: database and ledger must agree. Pure, so that tests can feed it wrong data.
import type { JobStatus } from '../../job/job.ts'
import type { HandRolledJob } from '../processes/hand-rolled-table.ts'
import type { LedgerLine } from './ledger.ts'
import { type Outage, type Rescue, rescueMs } from './rescue.ts'

export interface ReceiptFacts {
  ledger: readonly LedgerLine[]
  jobs: readonly { id: string; type: string; status: JobStatus; fence: number }[]
  rescues: readonly Rescue[]
  outages: readonly Outage[]
  /** Late writes and their outcomes. */
  lateWrites: readonly string[]
  handRolled: readonly Pick<HandRolledJob, 'status'>[]
  workersKilled: number
  breakerAttempts: number
  promisedMs: number
  /** The longest time in which this machine did not run the demo: no promise can be kept meanwhile. */
  stallMs: number
  seed: number
  seconds: number
}

export interface Receipt {
  jobsIn: number
  done: number
  /** Ids of the poison jobs. */
  deadOnPurpose: number
  deadOtherwise: number
  lost: number
  finishedTwice: number
  /** Work done after, or just before, the worker lost its job: identified by its fence. */
  effectsNotAccepted: number
  workersKilled: number
  rescues: number
  slowestRescueMs: number | null
  promisedMs: number
  lateRescues: number
  stallMs: number
  lateWritesRefused: number
  attemptsSpentByBreaker: number
  handRolledStuck: number
  handRolledFailed: number
  seed: number
  seconds: number
}

export function makeReceipt(facts: ReceiptFacts): Receipt {
  const { ledger, jobs, promisedMs, stallMs, handRolled } = facts
  const rows = new Map(jobs.map((job) => [job.id, job]))
  const enqueued = ledger.filter(({ kind }) => kind === 'enqueued').map(({ jobId }) => jobId)
  const dead = jobs.filter(({ status }) => status === 'dead')
  const onPurpose = dead.filter(({ type }) => type === 'poison').length
  const times = facts.rescues.map((rescue) => Math.round(rescueMs(rescue, facts.outages)))
  return {
    jobsIn: enqueued.length,
    done: jobs.filter(({ status }) => status === 'succeeded').length,
    deadOnPurpose: onPurpose,
    deadOtherwise: dead.length - onPurpose,
    lost: enqueued.filter((jobId) => isLost(rows.get(jobId), ledger)).length,
    finishedTwice: countFinishedTwice(rows, ledger) + facts.lateWrites.filter(wasTaken).length,
    effectsNotAccepted: ledger.filter((line) => isNotAccepted(line, rows)).length,
    workersKilled: facts.workersKilled,
    rescues: times.length,
    slowestRescueMs: times.length === 0 ? null : Math.max(...times),
    promisedMs,
    lateRescues: times.filter((ms) => ms > promisedMs + stallMs).length,
    stallMs: Math.round(stallMs),
    lateWritesRefused: facts.lateWrites.filter((outcome) => !wasTaken(outcome)).length,
    attemptsSpentByBreaker: facts.breakerAttempts,
    handRolledStuck: handRolled.filter(({ status }) => status === 'processing').length,
    handRolledFailed: handRolled.filter(({ status }) => status === 'failed').length,
    seed: facts.seed,
    seconds: Math.round(facts.seconds),
  }
}

type Row = ReceiptFacts['jobs'][number]

const wasTaken = (outcome: string) => outcome === 'completed'

/** Deleted, unfinished, or finished without the effect of the accepted attempt. */
function isLost(row: Row | undefined, ledger: readonly LedgerLine[]): boolean {
  if (row === undefined) return true
  if (row.status === 'dead') return false
  if (row.status !== 'succeeded') return true
  return !ledger.some(
    ({ kind, jobId, fence }) => kind === 'effect' && jobId === row.id && fence === row.fence,
  )
}

/** A worker killed right after its completion leaves no `accepted` line; two lines are always wrong. */
function countFinishedTwice(rows: ReadonlyMap<string, Row>, ledger: readonly LedgerLine[]): number {
  const accepted = ledger.filter(({ kind }) => kind === 'accepted')
  return [...rows.values()].filter(({ id, fence }) => {
    const own = accepted.filter(({ jobId }) => jobId === id)
    return own.length > 1 || own.some((line) => line.fence !== fence)
  }).length
}

function isNotAccepted({ kind, jobId, fence }: LedgerLine, rows: ReadonlyMap<string, Row>): boolean {
  const row = rows.get(jobId)
  return kind === 'effect' && (row?.status !== 'succeeded' || row.fence !== fence)
}

/** The demo did not show what it is for. */
export function isBroken({ lost, finishedTwice, lateRescues }: Receipt): boolean {
  return lost > 0 || finishedTwice > 0 || lateRescues > 0
}

const shown = (ms: number | null) => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`)
const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

function stuckText(jobs: number): string {
  if (jobs === 0) return 'no stuck jobs yet.'
  return `${plural(jobs, 'job')} still 'processing'. ${jobs === 1 ? 'It' : 'They'} will be tomorrow.`
}

/** `command`: the command line of this installation. */
export function receiptLines(receipt: Receipt, command: string): string[] {
  const { jobsIn, done, deadOnPurpose, deadOtherwise, lost, finishedTwice, rescues } = receipt
  const dead = deadOnPurpose === 0 ? '' : ` · ${deadOnPurpose} dead-lettered (poison, on purpose)`
  const others = deadOtherwise === 0 ? '' : ` · ${deadOtherwise} dead-lettered (killed too often)`
  const late = receipt.lateRescues === 0 ? '' : ` · ${receipt.lateRescues} LATER THAN PROMISED`
  const stall = receipt.stallMs < 100 ? '' : ` (this machine stalled for up to ${shown(receipt.stallMs)})`
  const failed =
    receipt.handRolledFailed === 0
      ? ''
      : ` ${plural(receipt.handRolledFailed, 'job')} 'failed' while the gateway was broken, and will not be retried.`
  return [
    `${plural(jobsIn, 'job')} in · ${done} done${dead}${others} · ${lost} lost · ${finishedTwice} finished twice (checked by a unique effect per job)`,
    `${plural(receipt.workersKilled, 'worker')} killed · ${plural(rescues, 'rescue')} · slowest ${shown(receipt.slowestRescueMs)} · promise was ${shown(receipt.promisedMs)}${stall}${late}`,
    `${plural(receipt.lateWritesRefused, 'late write')} refused · ${receipt.attemptsSpentByBreaker} attempts spent while the breaker was open`,
    `Hand-rolled side: ${stuckText(receipt.handRolledStuck)}${failed}`,
    `seed ${receipt.seed} · ${receipt.seconds} s`,
    ...nextLines(receipt, command),
  ]
}

function nextLines({ seed }: Receipt, command: string): string[] {
  const scan = `${command} scan $DATABASE_URL`
  const again = `${command} demo --seed ${seed + 1}`
  const width = Math.max(scan.length, again.length) + 4
  return [
    `Next:  ${scan.padEnd(width)}# yours, read-only`,
    `       ${again.padEnd(width)}# other workers die`,
  ]
}
