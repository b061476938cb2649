import { showDuration } from '../../policy/explain/show-duration.ts'
import { isReaperLate } from '../../policy/explain/table-health.ts'
import { explainUnjudged } from '../../policy/lease/age-rule.ts'
import { withOverride } from '../../policy/policy.ts'
import type { ServerFacts, TableFacts } from '../facts.ts'
import { countJobs, type Finding, fine, problem, warning } from '../finding.ts'

export function checkReaper(table: TableFacts, { hasCron }: Pick<ServerFacts, 'hasCron'>): Finding[] {
  const { name, health, stored, override, relation } = table
  if (health === null || stored === null) return []
  const { sweepIntervalMs } = withOverride(stored, override)
  const { reaperAgeMs } = health
  const schedule = hasCron && relation !== null ? `, or: ${relation.fixes.scheduleSweeps}` : ''
  const fix = `Start a worker, or: unstuck reaper${schedule}`
  const interval = `interval ${showDuration(sweepIntervalMs)}`
  if (reaperAgeMs === null) return [problem('no reaper', `${name} was never swept (${interval})`, fix)]
  if (isReaperLate(reaperAgeMs, sweepIntervalMs)) {
    const message = `no sweep of ${name} for ${showDuration(reaperAgeMs)} (${interval})`
    return [problem('no reaper', message, fix)]
  }
  return [fine('reaper', `${name} was swept ${showDuration(reaperAgeMs)} ago (${interval})`)]
}

export function checkLongOverdue({ name, longOverdue, health, mode }: TableFacts): Finding[] {
  const check = 'over 2x TTL'
  if (longOverdue === null) return []
  const { jobs, ids, oldestMs } = longOverdue
  if (jobs === 0) return [fine(check, `${name}: no job overdue by more than its lease`)]
  const oldest = oldestMs === null ? '' : `, the oldest by ${showDuration(oldestMs)}`
  const which = `${ids.join(', ')}${jobs > ids.length ? ', …' : ''}`
  const message = `${name}: ${countJobs(jobs)} overdue by more than the lease${oldest}: ${which}`
  const hold = health?.holdReason ?? null
  if (hold !== null) return [warning(check, `${message}; held after an outage (${hold})`, null)]
  if (mode === 'observe')
    return [warning(check, `${message}; mode observe does not requeue them`, 'unstuck mode reap')]
  return [problem(check, message, 'unstuck reap --once')]
}

export function checkUnjudged({ name, health, ageRule }: TableFacts): Finding[] {
  if (health === null || health.unjudged === 0) return []
  const { cause, remedy } = explainUnjudged(ageRule ?? undefined)
  const message = `${name}: ${countJobs(health.unjudged)} running without a lease, and ${cause}`
  return [warning('unjudged jobs', message, ageRule?.isOn === false ? remedy : 'unstuck reap --dry-run')]
}
