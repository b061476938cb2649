import type { DoctorFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

const OLDEST_VERSION = 140_000
/** Leases use the database's clock only, so a skewed host affects nothing but displayed times. */
const MAX_SKEW_MS = 1_000

/** Without the sign of a skew that rounds to nothing. */
export const showSkew = (ms: number) => `${(Math.round(ms / 10) / 100 + 0).toFixed(2)} s`

export function checkConnection({ server }: DoctorFacts): Finding[] {
  const { version, versionNumber, roundTripMs, clockSkewMs, isStandby } = server
  if (versionNumber < OLDEST_VERSION) {
    return [problem('connection', `PostgreSQL ${version} is too old`, 'Upgrade to PostgreSQL 14 or newer.')]
  }
  if (isStandby) {
    const message = `PostgreSQL ${version} is a standby: jobs cannot be claimed, renewed or requeued here`
    return [problem('connection', message, 'Point DATABASE_URL at the primary.')]
  }
  const skew = `clock skew ${showSkew(clockSkewMs)}`
  const message = `PostgreSQL ${version}, ${Math.round(roundTripMs)} ms; ${skew}`
  // The measurement error is half a round trip.
  if (Math.abs(clockSkewMs) <= MAX_SKEW_MS + roundTripMs) return [fine('connection', message)]
  const fix =
    'Synchronize the clock of this host (NTP). Leases use the database’s clock and are not affected.'
  return [warning('connection', `${message} between the database and this host`, fix)]
}
