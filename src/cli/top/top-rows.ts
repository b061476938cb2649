// Selectable rows: running jobs, the newest dead jobs, workers.

import { shortId } from '../../job/short-id.ts'
import { percentOf } from '../../job/show-progress.ts'
import type { JobSummary, WorkerStatus } from '../../store/job-store.ts'
import type { Colour } from '../terminal/colour.ts'
import { showDuration } from '../terminal/duration.ts'
import { leaseBar } from '../terminal/lease-bar.ts'
import { fitText, type Line } from '../terminal/line.ts'
import { type Snapshot, shareLeft } from './read-snapshot.ts'

export interface TopRow {
  key: string
  kind: 'running' | 'dead' | 'worker'
  table: string
  jobId: string | null
  workerId: string | null
  /** The text that a filter searches. */
  text: string
  line(elapsedMs: number): Line
}

export function topRows({ running, dead, workers }: Snapshot, filter: string): TopRow[] {
  const rows = [
    ...running.map(({ table, job }) => runningRow(table, job)),
    ...dead.map(({ table, job }) => deadRow(table, job)),
    ...workers.map(({ table, value }) => workerRow(table, value)),
  ]
  const wanted = filter.toLowerCase()
  return rows.filter(({ text }) => text.toLowerCase().includes(wanted))
}

function runningRow(table: string, job: JobSummary): TopRow {
  const { id, type, stage, workerId, attempt, progress } = job
  const percent = progress === null ? '' : `  ${percentOf(progress)} %`
  const reported = progress?.text == null ? '' : `  ${progress.text}`
  return {
    key: `running ${table} ${id}`,
    kind: 'running',
    table,
    jobId: id,
    workerId,
    text: [table, id, type, stage, workerId].join(' '),
    line: (elapsedMs) => [
      `${fitText(shortId(id), 13)}  ${fitText(type, 16)}  `,
      leaseBar(shareLeft(job, elapsedMs), 10),
      `  ${fitText(describeLease(job, elapsedMs), 13)}  ${fitText(workerId ?? 'unnamed', 28)}`,
      `  attempt ${attempt}${percent}${reported}`,
    ],
  }
}

function describeLease({ leaseLeftMs }: JobSummary, elapsedMs: number): string {
  if (leaseLeftMs === null) return 'no lease'
  const left = leaseLeftMs - elapsedMs
  return left < 0 ? `expired ${showDuration(-left)}` : `${showDuration(left)} left`
}

function deadRow(table: string, { id, type, error, attempt }: JobSummary): TopRow {
  const why = [error?.code, error?.reason].filter((part) => part != null).join(': ')
  return {
    key: `dead ${table} ${id}`,
    kind: 'dead',
    table,
    jobId: id,
    workerId: null,
    text: [table, id, type, why].join(' '),
    line: () => [
      `${fitText(shortId(id), 13)}  ${fitText(type, 16)}  `,
      ['dead', 'red'],
      `  attempt ${attempt}  ${why}`,
    ],
  }
}

const troubled: Partial<Record<WorkerStatus['state'], Colour>> = {
  silent: 'red',
  zombie: 'red',
  gone: 'red',
  late: 'yellow',
}

function workerRow(table: string, worker: WorkerStatus): TopRow {
  const { workerId, state, running, concurrency, types, seenMs } = worker
  const colour = troubled[state] ?? 'green'
  return {
    key: `worker ${table} ${workerId}`,
    kind: 'worker',
    table,
    jobId: null,
    workerId,
    text: [table, workerId, state, ...types].join(' '),
    line: (elapsedMs) => [
      `${fitText(workerId, 31)}  `,
      [fitText(state === 'gone' ? 'killed' : state, 8), colour],
      `  ${running}/${concurrency}  seen ${showDuration(seenMs + elapsedMs)} ago  ${types.join(' ')}`,
    ],
  }
}
