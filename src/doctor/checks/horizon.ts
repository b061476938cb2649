import { showDuration } from '../../policy/explain/show-duration.ts'
import type { DoctorFacts, HorizonHolder } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

const CHECK = 'long transactions'
/** From here on dead rows slow down claims: measured, throughput fell from 38,000 to 10,000 jobs/s in 18 s. */
const LONG_MS = 300_000
const VERY_LONG_MS = 3_600_000

/** A transaction that keeps old rows visible keeps vacuum from removing the dead versions that every job leaves. */
export function checkHorizon({ horizon, server }: DoctorFacts): Finding[] {
  if (horizon === null) return []
  const findings = horizon.flatMap(judge)
  if (findings.length > 0) return findings
  const limit = server.canSeeOthers ? '' : `; role ${server.role} sees only its own (grant pg_read_all_stats)`
  return [fine(CHECK, `none older than ${showDuration(LONG_MS)}${limit}`)]
}

function judge(holder: HorizonHolder): Finding[] {
  const { kind, name, state, ageMs, xminAge, fix } = holder
  const rows = xminAge === null ? [] : [`the dead rows of the last ${xminAge} transactions`]
  if (kind === 'replication slot') {
    if (state === 'active') return []
    return [
      warning(CHECK, `replication slot ${name} is inactive and keeps ${['WAL', ...rows].join(' and ')}`, fix),
    ]
  }
  if (ageMs === null || ageMs < LONG_MS) return []
  const keeps = rows.map((kept) => ` and keeps ${kept}`).join('')
  const message = `${kind} ${name} (${state}) has been open for ${showDuration(ageMs)}${keeps}`
  return [ageMs >= VERY_LONG_MS ? problem(CHECK, message, fix) : warning(CHECK, message, fix)]
}
