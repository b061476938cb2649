// Checks of the Neo4j store alone.

import type { GraphFacts } from '../../store/ports/graph-facts.ts'
import { countJobs, type Finding, fine, problem, warning } from '../finding.ts'
import { showSkew } from './connection.ts'

/** Leases use the database's clock only, so a skewed host affects nothing but displayed times. */
const MAX_SKEW_MS = 1_000

export function checkGraph({ server }: GraphFacts): Finding[] {
  const { version, roundTripMs, clockSkewMs } = server
  const skew = `clock skew ${showSkew(clockSkewMs)}`
  const message = `Neo4j ${version}, ${Math.round(roundTripMs)} ms; ${skew}`
  if (Math.abs(clockSkewMs) <= MAX_SKEW_MS + roundTripMs) return [fine('connection', message)]
  const fix =
    'Synchronize the clock of this host (NTP). Leases use the database’s clock and are not affected.'
  return [warning('connection', `${message} between the database and this host`, fix)]
}

/** Nodes that claims and sweeps do not see. */
export function checkNodes({ table: { name }, nodes }: GraphFacts): Finding[] {
  const check = 'nodes'
  if (nodes === null) return []
  const { unknown, numericIds, withoutStatus, oddNodes, hasUniqueIds } = nodes
  const findings: Finding[] = []
  if (unknown > 0) {
    const message = `${name}: ${countJobs(unknown)} not adopted yet, so not claimed`
    findings.push(warning(check, message, 'The next sweep adopts them: unstuck reap --once'))
  }
  if (withoutStatus.jobs > 0) {
    const { jobs, ids } = withoutStatus
    const message = `${name}: ${countJobs(jobs)} without a status, so never claimed or reaped: ${ids.join(', ')}`
    findings.push(problem(check, message, 'Set their status to a word of the profile, or remove the label.'))
  }
  if (numericIds > 0) {
    const fix =
      'Map id to another property in the profile: columns: { id: … }. It is filled by the next sweep.'
    findings.push(problem(check, `${name}: ${countJobs(numericIds)} with a number as id`, fix))
  }
  for (const { reason, jobs, ids } of oddNodes) {
    const fix = 'Say in the profile how they are written, or rewrite them.'
    findings.push(problem(check, `${name}: ${countJobs(jobs)} with ${reason}: ${ids.join(', ')}`, fix))
  }
  if (!hasUniqueIds) {
    const message = `${name}: an index on id blocks the constraint that ids are unique`
    findings.push(warning(check, message, 'Drop that index, then: unstuck migrate up'))
  }
  return findings.length > 0 ? findings : [fine(check, `${name}: all nodes are adopted and understood`)]
}
