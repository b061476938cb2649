// Writes the changes of a verb to its part of the graph, and nothing else.
import type { JobEvent } from '../../../job/event.ts'
import type { Job } from '../../../job/job.ts'
import type { Run } from '../graph/graph.ts'
import { Collision } from '../graph/neo4j-errors.ts'
import { type NodeProperties, toDateTime, toInteger, toNode } from './job-node.ts'
import { bodiesOf, pathOf, type StatePart, splitPath } from './state-part.ts'

export async function writePart(run: Run, part: StatePart): Promise<void> {
  const { created, changed, deleted } = changedJobs(part)
  const events = newEvents(part)
  const { written, forgotten } = changedRecords(part)
  const [, , , , wrote, forgot] = await Promise.all([
    deleted.length === 0 ? [] : run('delete_jobs', { ids: deleted }),
    changed.length === 0
      ? []
      : run('write_jobs', { rows: changed.map((job) => changedProperties(part.jobs.get(job.id), job)) }),
    created.length === 0 ? [] : run('create_jobs', { rows: created.map(toNode) }),
    events.length === 0 ? [] : run('create_events', { rows: events.map(eventNode) }),
    written.length === 0 ? [] : run('write_records', { rows: written }),
    forgotten.length === 0 ? [] : run('delete_records', { rows: forgotten }),
  ])
  if (Number(wrote[0]?.['written'] ?? 0) !== written.length) throw new Collision('a record was changed')
  if (Number(forgot[0]?.['deleted'] ?? 0) !== forgotten.length) throw new Collision('a record was changed')
}

export function changedJobs({ state, jobs }: Pick<StatePart, 'state' | 'jobs'>): {
  created: Job[]
  changed: Job[]
  deleted: string[]
} {
  const now = [...state.jobs.values()]
  return {
    created: now.filter(({ id }) => !jobs.has(id)),
    changed: now.filter((job) => jobs.has(job.id) && jobs.get(job.id) !== job),
    deleted: [...jobs.keys()].filter((id) => !state.jobs.has(id)),
  }
}

/** A heartbeat writes two properties instead of forty, and what the application wrote otherwise stays. */
export function changedProperties(before: Job | undefined, after: Job): NodeProperties {
  const known = before === undefined ? {} : toNode(before)
  const changed = Object.entries(toNode(after)).filter(
    ([name, value]) => name === 'id' || String(value) !== String(known[name] ?? null),
  )
  return Object.fromEntries(changed)
}

export function newEvents({ state, eventIds }: Pick<StatePart, 'state' | 'eventIds'>): JobEvent[] {
  return [...state.events.values()].flat().filter(({ id }) => !eventIds.has(id))
}

export function eventNode({ id, jobId, type, at, data: { details } }: JobEvent): NodeProperties {
  const text = (name: string) => (typeof details[name] === 'string' ? details[name] : null)
  return {
    id: toInteger(Number(id)),
    job_id: jobId,
    type,
    at: toDateTime(at),
    details: JSON.stringify(details),
    // Properties of a reap that lists are filtered by.
    lock_owner: text('locked_by'),
    stage: text('stage'),
  }
}

interface RecordWrite {
  path: string
  kind: string
  before: string | null
  body: string
}

function changedRecords({ state, bodies, held }: StatePart): {
  written: RecordWrite[]
  forgotten: { path: string; before: string | null }[]
} {
  const now = bodiesOf(state)
  const isLeftAlone = (path: string) => !held.has(path) && path.startsWith(pathOf('settings', ''))
  return {
    written: [...now]
      .filter(([path, body]) => bodies.get(path) !== body && !isLeftAlone(path))
      .map(([path, body]) => ({ path, kind: splitPath(path)[0], before: bodies.get(path) ?? null, body })),
    forgotten: [...bodies].filter(([path]) => !now.has(path)).map(([path, before]) => ({ path, before })),
  }
}
