// Operations of the invented deployment: they change a few jobs per tick, so they can be stopped.
import type { Job, Operation, OperationAction, OperationJob } from '../../../../src/http/contract/index.ts'
import { type FakeWorld, fitsFilter } from './fake-world.ts'
import { iso } from './iso.ts'

const SHOWN_JOBS = 60
const JOBS_PER_S = 10

interface Running {
  operation: Operation
  jobs: OperationJob[]
  doneAtMs: number
}

export type FakeOperations = ReturnType<typeof createFakeOperations>

const FITTING: Record<OperationAction, readonly Job['status'][]> = {
  retry: ['dead'],
  redrive: ['dead'],
  'run-now': ['waiting'],
  cancel: ['waiting', 'running'],
  discard: ['dead', 'waiting', 'succeeded', 'cancelled'],
}
const OUTCOMES: Record<OperationAction, { outcome: string; status: Job['status'] }> = {
  retry: { outcome: 'retried', status: 'waiting' },
  redrive: { outcome: 'retried', status: 'waiting' },
  'run-now': { outcome: 'due', status: 'waiting' },
  cancel: { outcome: 'cancelled', status: 'cancelled' },
  discard: { outcome: 'discarded', status: 'cancelled' },
}

export function createFakeOperations(world: FakeWorld) {
  const all: Running[] = []
  const find = (id: string | undefined) => all.find(({ operation }) => operation.id === id)
  return {
    list: () => all.map(({ operation }) => operation).toReversed(),
    find: (id: string | undefined) => find(id)?.operation ?? null,
    jobsOf: (id: string | undefined) => find(id)?.jobs.slice(0, SHOWN_JOBS) ?? null,
    begin(body: Record<string, unknown>): Operation {
      const action = body['action'] as OperationAction
      const q = String(body['q'])
      const found = [...world.jobs.values()].filter(
        (job) => fitsFilter(job, q) && FITTING[action].includes(job.status),
      )
      const isPlan = body['dry_run'] === true
      const operation = operationOf(isPlan ? '' : `op-${all.length + 1}`, found.length, body)
      const jobs = found.map(({ id, status }, index) => ({
        job_id: id,
        position: index + 1,
        outcome: null,
        status,
      }))
      if (!isPlan) all.push({ operation, jobs, doneAtMs: Date.now() })
      return operation
    },
    abort(id: string | undefined): Operation | null {
      const found = find(id)
      if (found === undefined) return null
      end(found.operation, 'stopped')
      found.operation.stopped = 'interrupted'
      return found.operation
    },
    advance(now: number): void {
      for (const one of all) if (one.operation.state === 'running') step(world, one, now)
    },
  }
}

function operationOf(id: string, total: number, body: Record<string, unknown>): Operation {
  const q = String(body['q'])
  return {
    id,
    action: body['action'] as OperationAction,
    table: 'jobs',
    q,
    cause_id: /cause:(\S+)/.exec(q)?.[1] ?? null,
    actor: 'ana',
    reason: typeof body['reason'] === 'string' ? body['reason'] : null,
    state: id === '' ? 'planned' : 'running',
    phase: id === '' ? null : 'rest',
    total,
    at_least: [],
    changed: 0,
    refused: 0,
    succeeded: 0,
    failed: 0,
    stopped: null,
    as_of: iso(Date.now()),
    began_at: iso(Date.now()),
    ended_at: null,
  }
}

function step(world: FakeWorld, one: Running, now: number): void {
  const due = Math.floor(((now - one.doneAtMs) / 1000) * JOBS_PER_S)
  if (due === 0) return
  one.doneAtMs = now
  const { outcome, status } = OUTCOMES[one.operation.action]
  for (const entry of one.jobs.filter((job) => job.outcome === null).slice(0, due)) {
    entry.outcome = outcome
    const job = world.jobs.get(entry.job_id)
    if (job !== undefined) job.status = status
    entry.status = status
    one.operation.changed += 1
  }
  if (one.operation.changed < one.operation.total) return
  end(one.operation, 'done')
  for (const group of world.groups.filter(({ cause_id }) => cause_id === one.operation.cause_id))
    world.groups.splice(world.groups.indexOf(group), 1)
}

function end(operation: Operation, state: Operation['state']): void {
  operation.state = state
  operation.phase = null
  operation.ended_at = iso(Date.now())
}
