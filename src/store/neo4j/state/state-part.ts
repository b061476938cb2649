// The verbs are those of the memory store. Their state is the part of the graph that a call concerns: first its jobs are
// locked, then its records, then the time is read. Changes are written before the transaction ends (ADR 0013).
import { randomUUID } from 'node:crypto'
import type { EventType, JobEvent } from '../../../job/event.ts'
import type { Job, JsonValue } from '../../../job/job.ts'
import { type Policy, withOverride } from '../../../policy/policy.ts'
import { JobTable } from '../../memory/state/job-table.ts'
import type { MemoryState, Outage } from '../../memory/state/memory-state.ts'
import type { ModeStatus } from '../../ports/mode-store.ts'
import type { LastSweep, PastSweep } from '../../ports/reaping-store.ts'
import type { Row, Run } from '../graph/graph.ts'
import { activeKey, fromDateTime, toJob } from './job-node.ts'
import type { NodeNotice } from './node-notice.ts'
import { fromBody, toBody } from './record-body.ts'

/** Ids grow with time: this many per millisecond. */
export const EVENT_IDS_PER_MS = 100

/** Records of these kinds are maps of the state, by key. */
const kinds = [
  'breakers',
  'dependencies',
  'pauses',
  'keptWorkers',
  'fullAtMs',
  'limitUses',
  'schedules',
  'workers',
  'causes',
  'observations',
] as const

export type RecordKind = (typeof kinds)[number] | 'sweeps'

const reaping: ModeStatus = { mode: 'reap', onForeignSettle: 'record', since: null }

export interface PartRequest {
  /** Locked in the order of their ids. */
  jobIds?: readonly string[]
  /** Unfinished jobs with these keys; not locked, since the key is unique. */
  activeKeys?: readonly string[]
  /** Key holders of the dead jobs among `jobIds` too, once these are locked. */
  withKeyHolders?: boolean
  /** Statements that return more jobs, without locking them. */
  find?: readonly (readonly [name: string, parameters?: { [name: string]: unknown }])[]
  /** Rows that a statement has already locked. */
  jobs?: readonly Job[]
  /** Includes all events of these jobs. */
  eventsOf?: readonly string[]
  /** Locked even if missing: records that many processes write. */
  held?: readonly (readonly [RecordKind | 'settings', string])[]
  /** All records of these kinds. Not locked: a writer that finds a changed body starts over. */
  kinds?: readonly RecordKind[]
  /** Single records, not locked either. */
  paths?: readonly string[]
}

export interface StatePart {
  state: MemoryState
  jobs: ReadonlyMap<string, Job>
  /** Bodies as read, by path; null if a held record does not exist. */
  bodies: ReadonlyMap<string, string | null>
  /** Paths of locked records: settings are only written if they are locked. */
  held: ReadonlySet<string>
  eventIds: ReadonlySet<string>
}

/** State that survives a sweep. */
export interface SweepSettings {
  sweptAtMs: number | null
  reachedAtMs: number | null
  outages: readonly Outage[]
  lastSweep: LastSweep | null
}

export interface PartContext {
  table: string
  policy: Policy
  createJobId: (nowMs: number) => string
  onNotice: (notice: NodeNotice) => void
}

export async function readPart(run: Run, context: PartContext, request: PartRequest): Promise<StatePart> {
  const held = (request.held ?? []).map(([kind, key]) => pathOf(kind, key)).toSorted()
  const ids = [...new Set(request.jobIds)].toSorted()
  // Sent together and answered in this order: the time is read once all locks are held.
  const [lockedJobs, lockedRecords, found, events, named, [read]] = await Promise.all([
    ids.length === 0 ? [] : run('lock_jobs', { ids }),
    held.length === 0 ? [] : run('lock_records', { paths: held }),
    findJobs(run, request),
    isEmpty(request.eventsOf) ? [] : run('list_events_of', { jobIds: [...request.eventsOf] }),
    isEmpty(request.paths) ? [] : run('read_records_at', { paths: [...request.paths] }),
    run('read_records', { kinds: ['settings', ...(request.kinds ?? [])] }),
  ])
  const locked = lockedJobs.map((row) => toJob(row['job']))
  const holders = request.withKeyHolders === true ? await findKeyHolders(run, locked) : []
  const all = [...found, ...holders, ...(request.jobs ?? []), ...locked]
  const jobs = new Map(all.map((job) => [job.id, job]))
  const records = [...((read?.['records'] ?? []) as Row[]), ...named, ...lockedRecords]
  const bodies = new Map(records.map((row) => [row['path'] as string, row['body'] as string | null]))
  const stories = events.map(toEvent)
  const state = openState(context, { nowMs: Number(read?.['now']), jobs, bodies, stories })
  const eventIds = new Set(stories.map(({ id }) => id))
  return { state, jobs, bodies, held: new Set(held), eventIds }
}

async function findJobs(run: Run, { find = [], activeKeys }: PartRequest): Promise<Job[]> {
  const asked = isEmpty(activeKeys) ? find : [...find, ['find_key_holders', { keys: activeKeys }] as const]
  const answers = await Promise.all(asked.map(([name, parameters]) => run(name, parameters)))
  return answers.flat().map((row) => toJob(row['job']))
}

async function findKeyHolders(run: Run, jobs: Job[]): Promise<Job[]> {
  const activeKeys = jobs.flatMap(({ type, dedupeKey }) =>
    dedupeKey === null ? [] : [activeKey(type, dedupeKey)],
  )
  return findJobs(run, { activeKeys })
}

function isEmpty(list: readonly string[] | undefined): list is undefined {
  return list === undefined || list.length === 0
}

interface Loaded {
  nowMs: number
  jobs: ReadonlyMap<string, Job>
  bodies: ReadonlyMap<string, string | null>
  stories: JobEvent[]
}

function openState(context: PartContext, { nowMs, jobs, bodies, stories }: Loaded): MemoryState {
  const records = Object.fromEntries(kinds.map((kind) => [kind, new Map<string, unknown>()]))
  const sweeps: PastSweep[] = []
  const settings = new Map<string, unknown>()
  for (const [path, body] of bodies) {
    if (body === null) continue
    const [kind, key] = splitPath(path)
    if (kind === 'sweeps') sweeps.push(fromBody(body) as PastSweep)
    else (kind === 'settings' ? settings : records[kind])?.set(key, fromBody(body))
  }
  const events = new Map<string, JobEvent[]>()
  for (const event of stories) events.set(event.jobId, [...(events.get(event.jobId) ?? []), event])
  const swept = (settings.get('sweep') ?? {}) as Partial<SweepSettings>
  // 15 digits, growing with time, distinct for calls of one millisecond; on a collision the later call starts over.
  const firstId = nowMs * EVENT_IDS_PER_MS + Math.floor(Math.random() * EVENT_IDS_PER_MS)
  return {
    ...(records as unknown as Pick<MemoryState, (typeof kinds)[number]>),
    table: context.table,
    judgesWaiting: true,
    jobs: JobTable.of(jobs.values()),
    events,
    nowMs: () => nowMs,
    random: Math.random,
    createJobId: context.createJobId,
    createUuid: randomUUID,
    goneWorkers: () => new Map(),
    policy: withOverride(context.policy, settings.get('policy') as Partial<Policy> | undefined),
    eventCount: firstId,
    sweepCount: firstId,
    sweptAtMs: swept.sweptAtMs ?? null,
    reachedAtMs: swept.reachedAtMs ?? null,
    outages: swept.outages ?? [],
    lastSweep: swept.lastSweep ?? null,
    sweeps: sweeps.toSorted((a, b) => Number(a.sweepId) - Number(b.sweepId)),
    attachedAtMs: nowMs,
    dispatches: new Map(),
    queueLimits: new Map(),
    reachedGroups: new Map(),
    dedupeWindows: new Map(),
    webhooks: new Map(),
    deliveries: new Map(),
    operations: new Map(),
    mode: (settings.get('mode') ?? reaping) as ModeStatus,
  }
}

/** The bodies of all records of a state, by path. */
export function bodiesOf(state: MemoryState): Map<string, string> {
  const { sweptAtMs, reachedAtMs, outages, lastSweep } = state
  const all = kinds.flatMap((kind) =>
    [...state[kind]].map(([key, value]): [string, string] => [pathOf(kind, key), toBody(value)]),
  )
  const swept = { sweptAtMs, reachedAtMs, outages, lastSweep } satisfies SweepSettings
  return new Map([
    ...all,
    ...state.sweeps.map((sweep): [string, string] => [pathOf('sweeps', sweep.sweepId), toBody(sweep)]),
    [pathOf('settings', 'sweep'), toBody(swept)],
    [pathOf('settings', 'policy'), toBody(state.policy)],
    [pathOf('settings', 'mode'), toBody(state.mode)],
  ])
}

export function pathOf(kind: RecordKind | 'settings', key: string): string {
  return `${kind}/${key}`
}

export function splitPath(path: string): [kind: string, key: string] {
  const end = path.indexOf('/')
  return [path.slice(0, end), path.slice(end + 1)]
}

export function toEvent({ event, table }: Row): JobEvent {
  const node = event as { id: unknown; job_id: string; type: EventType; at: unknown; details: string }
  const at = fromDateTime(node.at) ?? new Date(0)
  const { type, job_id: jobId } = node
  const details = JSON.parse(node.details) as { [key: string]: JsonValue }
  const data = { type, table: String(table), details, at: at.toISOString() }
  return { id: String(node.id), jobId, type, at, data }
}
