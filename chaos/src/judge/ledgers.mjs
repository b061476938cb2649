// I2, I6, I7, I8, I13, I17, I18: what was told to the outside against what the database says.

/** @import { History, LedgerLine, Violation } from './history.mjs' */
/** @import { Story } from './job-story.mjs' */

/**
 * @param {History} history
 * @param {Map<string, Story>} stories
 * @returns {Violation[]}
 */
export function checkLedgers(history, stories) {
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

/** Which event an accepted write must have left, at the end of the very lease that wrote it. */
const WRITTEN = {
  completed: ['complete'],
  retried: ['retry'],
  dead: ['failed', 'expired'],
  released: ['released'],
  cancelled: ['cancelled'],
}

/**
 * @param {History} history
 * @param {Map<string, Story>} stories
 * @returns {Iterable<Violation>}
 */
function* checkAnswers({ ledger }, stories) {
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

/**
 * @param {string | undefined} outcome
 * @returns {outcome is keyof typeof WRITTEN}
 */
function isWritten(outcome) {
  return outcome !== undefined && outcome in WRITTEN
}

/**
 * @param {History} history
 * @returns {Iterable<Violation>}
 */
function* checkEffects({ jobs, txEffects }) {
  /** @type {Map<string, string[]>} */
  const leases = new Map()
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

/** @param {LedgerLine} line */
function isAcknowledged({ kind, verb, outcome, end }) {
  if (kind === 'ended') return end === 'completed'
  return (
    kind === 'answered' && verb === 'completeJobs' && (outcome === 'completed' || outcome === 'already-done')
  )
}

/**
 * @param {History} history
 * @returns {Iterable<Violation>}
 */
function* checkDurable({ jobs, ledger, enqueuedIds }) {
  const byId = new Map(jobs.map((job) => [job.id, job]))
  for (const line of ledger) {
    if (!isAcknowledged(line)) continue
    const job = byId.get(line.job ?? '')
    if (job?.status !== 'succeeded' || job.finishedLeaseId !== line.lease)
      yield {
        invariant: 'I7',
        message: `job ${line.job}: ${line.worker} was told that lease ${line.lease} completed it, but it is ${job?.status} by ${job?.finishedLeaseId}`,
      }
  }
  for (const id of enqueuedIds)
    if (!byId.has(id)) yield { invariant: 'I7', message: `job ${id} was acknowledged and is not there` }
}

/**
 * @param {History} history
 * @returns {Iterable<Violation>}
 */
function* checkDrained({ jobs }) {
  for (const { id, type, status } of jobs)
    if (status === 'waiting' || status === 'running')
      yield { invariant: 'I8', message: `job ${id} (${type}) is ${status} after the end` }
}

/**
 * @param {History} history
 * @returns {Iterable<Violation>}
 */
function* checkProcesses({ ledger }) {
  /** @type {Map<string, string>} */
  const starts = new Map()
  for (const { kind, job, lease, worker } of ledger) {
    if (kind !== 'started') continue
    const key = `${job} ${lease}`
    const other = starts.get(key)
    if (other !== undefined)
      yield { invariant: 'I13', message: `job ${job}: ${other} and ${worker} both ran lease ${lease}` }
    starts.set(key, worker)
  }
}

/**
 * @param {History} history
 * @returns {Iterable<Violation>}
 */
function* checkOwners({ intrusions, events }) {
  for (const { act, outcome } of intrusions)
    if (outcome !== 'not-found')
      yield { invariant: 'I17', message: `${act} by another owner was answered ${outcome}` }
  for (const { jobId, type, details } of events)
    if (details['actor'] === 'intruder')
      yield { invariant: 'I17', message: `job ${jobId}: ${type} by another owner` }
}

/**
 * @param {History} history
 * @returns {Iterable<Violation>}
 */
function* checkOutbox({ events, deliveries, webhooks }) {
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

/** @param {History['events']} events */
function countBy(events) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const { jobId, type, at } of events) {
    const key = `${jobId} ${type} ${Math.floor(at)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
