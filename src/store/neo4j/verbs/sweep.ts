// The memory store's sweep decides over the rows that were read; APOC writes in batches with their own transactions, each job
// only if it did not change. Nobody waits for a sweep, and two of them cannot reap one job twice.

import { randomUUID } from 'node:crypto'
import { UnstuckError } from '../../../errors/index.ts'
import type { JobEvent } from '../../../job/event.ts'
import type { Job } from '../../../job/job.ts'
import type { PolicyOption, ReapedJob, SweepRequest, SweepStep } from '../../job-store.ts'
import { forgetKeptWorkers } from '../../memory/lifecycle/last-chance.ts'
import { joinOutages, pastOutages } from '../../memory/reaping/outages.ts'
import { previewSweep as previewInMemory, sweepJobs as sweepInMemory } from '../../memory/reaping/sweep.ts'
import { checkWhole } from '../../memory/state/checks.ts'
import type { MemoryState } from '../../memory/state/memory-state.ts'
import type { PastSweep, SweepCounts } from '../../ports/reaping-store.ts'
import type { Row, Run } from '../graph/graph.ts'
import type { Adoption } from '../state/adopt-jobs.ts'
import { statusWord, toInteger } from '../state/job-node.ts'
import {
  EVENT_IDS_PER_MS,
  type PartContext,
  type PartRequest,
  pathOf,
  readPart,
  type StatePart,
} from '../state/state-part.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { changedJobs, changedProperties, eventNode, newEvents } from '../state/write-part.ts'
import { observedPart } from './modes.ts'

const MAX_LIMIT = 10_000

export async function sweepJobs(
  runner: VerbRunner,
  request: SweepRequest,
  adoption: Adoption,
): Promise<SweepStep> {
  checkWhole(request.limit, 'limit', 1, MAX_LIMIT)
  const { graph, context } = runner
  const isObserved = (await runner.look({}, ({ mode }) => mode.mode)) === 'observe'
  if (request.cursor === undefined) await (isObserved ? adoption.observe() : adoption.adopt())
  if (isObserved) return observeJobs(runner, request)
  const part = await graph.read((run) => readSweepable(run, context, request))
  const step = sweepInMemory(part.state, request)
  const written = await writeReaped(runner, part)
  const planned = new Set(changedJobs(part).changed.map(({ id }) => id))
  const skipped = step.reaped.filter(({ jobId }) => planned.has(jobId) && !written.has(jobId))
  await keepHistory(runner, part, request, step, skipped)
  if (step.next === null) await forgetKept(runner)
  return { ...step, reaped: step.reaped.filter((job) => !skipped.includes(job)) }
}

/** Records what it would do, and changes no job. */
function observeJobs({ change }: VerbRunner, request: SweepRequest): Promise<SweepStep> {
  const part = async (run: Run): Promise<PartRequest> => {
    const { find = [], ...observed } = await observedPart(run)
    const held = [['settings', 'sweep']] as const
    return { ...observed, find: [...find, ['list_running']], held, paths: sweepPaths(request) }
  }
  return change(part, (state) => sweepInMemory(state, request))
}

/** Workers that died while reserved for a job. */
async function forgetKept({ look, change }: VerbRunner): Promise<void> {
  const kinds = ['keptWorkers'] as const
  const jobIds = await look({ kinds }, (state) => [...state.keptWorkers.values()].map(({ jobId }) => jobId))
  if (jobIds.length > 0) await change({ kinds, jobIds }, (state) => forgetKeptWorkers(state, state.nowMs()))
}

export async function previewSweep(
  { graph, context }: VerbRunner,
  options: PolicyOption & { limit?: number },
): Promise<ReapedJob[]> {
  checkWhole(options.limit, 'limit', 1, MAX_LIMIT)
  const { state } = await graph.read((run) => readSweepable(run, context, options))
  return previewInMemory(state, options)
}

async function readSweepable(run: Run, context: PartContext, request: SweepRequest): Promise<StatePart> {
  return readPart(run, context, { find: [['list_running']], paths: sweepPaths(request) })
}

function sweepPaths({ cursor = '{}' }: SweepRequest): string[] {
  const { sweepId } = JSON.parse(cursor) as { sweepId?: string }
  return sweepId === undefined ? [] : [pathOf('sweeps', sweepId)]
}

const MAX_TURNS = 5

/** Ids of the jobs that had not changed. */
async function writeReaped({ graph }: VerbRunner, part: StatePart): Promise<Set<string>> {
  const writer = randomUUID()
  const written = new Set<string>()
  let left = reapedOf(part)
  for (let turn = 1; left.length > 0; turn++) {
    const rows = left.map(({ job, seen, event }) => {
      return { job: changedProperties(seen, job), seen: seenAs(seen), event: eventNode(event) }
    })
    const answer = await graph.call('reap_jobs', { rows, writer })
    const ids = left.map(({ event }) => toInteger(Number(event.id)))
    const found = await graph.read((run) => run('list_written_events', { ids, writer }))
    for (const row of found) written.add(row['jobId'] as string)
    if (turn === MAX_TURNS) requireNoFailures('recovery', answer)
    if (failuresOf(answer) === 0) break
    // An event of the same millisecond may have the same id.
    left = left.filter(({ job }) => !written.has(job.id)).map(withLaterEvent)
  }
  return written
}

interface Reaped {
  job: Job
  seen: Job
  event: JobEvent
}

function reapedOf(part: StatePart): Reaped[] {
  const events = new Map(newEvents(part).map((event) => [event.jobId, event]))
  return changedJobs(part).changed.flatMap((job) => {
    const seen = part.jobs.get(job.id)
    const event = events.get(job.id)
    return seen === undefined || event === undefined ? [] : [{ job, seen, event }]
  })
}

function withLaterEvent({ event, ...reaped }: Reaped): Reaped {
  const id = Number(event.id) + EVENT_IDS_PER_MS + Math.floor(Math.random() * EVENT_IDS_PER_MS)
  return { ...reaped, event: { ...event, id: String(id) } }
}

function seenAs(job: Job) {
  const ms = (date: Date | null) => toInteger(date?.getTime() ?? 0)
  return {
    status: statusWord(job.status),
    lease_id: job.leaseId ?? '',
    lock_until_ms: ms(job.leaseExpiresAt),
    heartbeat_at_ms: ms(job.heartbeatAt),
    updated_at_ms: ms(job.updatedAt),
    cancel_requested_at_ms: ms(job.cancelRequestedAt),
  }
}

function failuresOf([answer]: (Row | undefined)[]): number {
  return Number(answer?.['failedOperations'] ?? 0)
}

/** APOC collects the errors of its batches instead of throwing them. */
export function requireNoFailures(what: string, [answer]: Row[]): void {
  const failed = failuresOf([answer])
  if (failed === 0) return
  const errors = Object.keys(answer?.['errorMessages'] ?? {})
  throw new UnstuckError(
    'DATABASE_CONFLICT',
    `${failed} operations of a ${what} failed: ${errors.join('; ')}`,
    {
      details: { failedOperations: failed, errors },
      hint: 'What was not written is found by the next run.',
    },
  )
}

async function keepHistory(
  runner: VerbRunner,
  { state: after }: StatePart,
  request: SweepRequest,
  step: SweepStep,
  skipped: ReapedJob[],
): Promise<void> {
  const sweep = after.sweeps.at(-1)
  if (sweep === undefined && request.reaper === undefined) return
  const paths = sweep === undefined ? [] : [pathOf('sweeps', sweep.sweepId)]
  await runner.change({ held: [['settings', 'sweep']], paths }, (state) => {
    if (sweep !== undefined) putSweep(state, { ...sweep, ...withoutSkipped(sweep, skipped) })
    if (request.reaper === undefined) return
    // Another reaper may have found an outage since this step read.
    const [first] = after.outages
    const known = pastOutages(state.outages, state.nowMs())
    state.outages =
      first === undefined
        ? known
        : joinOutages([...known, ...after.outages]).filter(({ toMs }) => toMs >= first.fromMs)
    if (step.next !== null) return
    state.sweptAtMs = Math.max(state.sweptAtMs ?? 0, after.sweptAtMs ?? 0)
    state.reachedAtMs = Math.max(state.reachedAtMs ?? 0, after.reachedAtMs ?? 0)
    state.lastSweep =
      after.lastSweep === null ? null : { ...after.lastSweep, ...withoutSkipped(after.lastSweep, skipped) }
  })
}

function putSweep(state: MemoryState, sweep: PastSweep): void {
  const known = state.sweeps.findIndex(({ sweepId }) => sweepId === sweep.sweepId)
  if (known < 0) state.sweeps.push(sweep)
  else state.sweeps[known] = sweep
}

function withoutSkipped(counts: SweepCounts, skipped: ReapedJob[]): Partial<SweepCounts> {
  const number = (action: ReapedJob['action']) => skipped.filter((job) => job.action === action).length
  return {
    requeued: counts.requeued - number('requeued'),
    dead: counts.dead - number('dead'),
    cancelled: counts.cancelled - number('cancelled'),
    skipped: counts.skipped + skipped.length,
  }
}
