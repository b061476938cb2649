// I2, I6, I7, I8, I13, I17, I18: compares the ledgers with the database.
import type { History, LedgerLine, Violation } from './history.ts'
import type { Story } from './job-story.ts'

export function checkLedgers(history: History, stories: Map<string, Story>): Violation[] {
  return [
    ...checkAnswers(history, stories),
    ...checkEffects(history),
    ...checkDurable(history),
    ...checkDrained(history),
    ...checkProcesses(history),
    ...checkOwners(history),
    ...checkOutbox(history),
  ]
}

/** The event that each accepted write must have left, at the end of the lease that wrote it. */
const WRITTEN = {
  completed: ['complete'],
  retried: ['retry'],
  dead: ['failed', 'expired'],
  released: ['released'],
  cancelled: ['cancelled'],
}

function* checkAnswers({ ledger }: History, stories: Map<string, Story>): Iterable<Violation> {
  for (const { kind, job, lease, verb, outcome, worker } of ledger) {
    if (kind !== 'answered' || !isWritten(outcome)) continue
    const claim = stories.get(job ?? '')?.claims.find((candidate) => candidate.lease === lease)
    const end = claim?.end?.type ?? 'nothing'
    if (!WRITTEN[outcome].includes(end))
      yield {
        invariant: 'I2',
        message: `job ${job}: ${worker} was answered ${outcome} to ${verb} with lease ${lease}, which ended in ${end}`,
      }
  }
}

function isWritten(outcome: string | undefined): outcome is keyof typeof WRITTEN {
  return outcome !== undefined && outcome in WRITTEN
}

function* checkEffects({ jobs, txEffects }: History): Iterable<Violation> {
  const leases: Map<string, string[]> = new Map()
  for (const { jobId, leaseId } of txEffects) leases.set(jobId, [...(leases.get(jobId) ?? []), leaseId])
  for (const { id, type, status, finishedLeaseId } of jobs) {
    if (type !== 'tx') continue
    const found = leases.get(id) ?? []
    const expected = status === 'succeeded' ? [finishedLeaseId] : []
    if (JSON.stringify(found) !== JSON.stringify(expected))
      yield {
        invariant: 'I6',
        message: `job ${id} is ${status} and has ${found.length} effects in transactions`,
      }
  }
}

function isAcknowledged({ kind, verb, outcome, end }: LedgerLine) {
  if (kind === 'ended') return end === 'completed'
  return (
    kind === 'answered' && verb === 'completeJobs' && (outcome === 'completed' || outcome === 'already-done')
  )
}

function* checkDurable({ jobs, ledger, enqueuedIds }: History): Iterable<Violation> {
  const byId = new Map(jobs.map((job) => [job.id, job]))
  for (const line of ledger) {
    if (!isAcknowledged(line)) continue
    const job = byId.get(line.job ?? '')
    if (job?.status !== 'succeeded' || job.finishedLeaseId !== line.lease)
      yield {
        invariant: 'I7',
        message: `job ${line.job}: ${line.worker} was answered that lease ${line.lease} completed it, but it is ${job?.status} by ${job?.finishedLeaseId}`,
      }
  }
  for (const id of enqueuedIds)
    if (!byId.has(id)) yield { invariant: 'I7', message: `job ${id} was acknowledged and is not there` }
}

function* checkDrained({ jobs }: History): Iterable<Violation> {
  for (const { id, type, status } of jobs)
    if (status === 'waiting' || status === 'running')
      yield { invariant: 'I8', message: `job ${id} (${type}) is ${status} after the end` }
}

function* checkProcesses({ ledger }: History): Iterable<Violation> {
  const starts: Map<string, string> = new Map()
  for (const { kind, job, lease, worker } of ledger) {
    if (kind !== 'started') continue
    const key = `${job} ${lease}`
    const other = starts.get(key)
    if (other !== undefined)
      yield { invariant: 'I13', message: `job ${job}: ${other} and ${worker} both ran lease ${lease}` }
    starts.set(key, worker)
  }
}

function* checkOwners({ intrusions, events }: History): Iterable<Violation> {
  for (const { act, outcome } of intrusions)
    if (outcome !== 'not-found')
      yield { invariant: 'I17', message: `${act} by another owner was answered ${outcome}` }
  for (const { jobId, type, details } of events)
    if (details['actor'] === 'intruder')
      yield { invariant: 'I17', message: `job ${jobId}: ${type} by another owner` }
}

function* checkOutbox({ events, deliveries, webhooks }: History): Iterable<Violation> {
  for (const { webhookId, events: types } of webhooks) {
    const wanted = countBy(events.filter(({ type }) => types.includes(type)))
    const found = new Map(
      deliveries
        .filter((delivery) => delivery.webhookId === webhookId)
        .map(({ jobId, type, timestamp, count }) => [`${jobId} ${type} ${Date.parse(timestamp)}`, count]),
    )
    for (const key of new Set([...wanted.keys(), ...found.keys()]))
      if (wanted.get(key) !== found.get(key))
        yield {
          invariant: 'I18',
          message: `event ${key}: ${found.get(key) ?? 0} rows in the outbox for ${wanted.get(key) ?? 0} events`,
        }
  }
}

function countBy(events: History['events']) {
  const counts: Map<string, number> = new Map()
  for (const { jobId, type, at } of events) {
    const key = `${jobId} ${type} ${Math.floor(at)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
