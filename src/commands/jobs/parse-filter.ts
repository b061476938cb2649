// The job filter language: `type:run_tsa status:dead error:GW_5XX older:2h`. An error points at the token.
import { closestName } from '../../errors/index.ts'
import type { JobStatus } from '../../job/job.ts'
import type { JobFilter } from '../../store/job-store.ts'

export interface FilterProblem {
  message: string
  token: string
  /** The token's offset in the text, from 0. */
  position: number
}

export type ParsedFilter = { filter: JobFilter } | { problem: FilterProblem }

const STATUSES: readonly string[] = [
  'waiting',
  'running',
  'succeeded',
  'dead',
  'cancelled',
] satisfies JobStatus[]
const TEXT_KEYS = {
  type: 'type',
  queue: 'queue',
  owner: 'owner',
  worker: 'workerId',
  stage: 'stage',
  error: 'errorCode',
  cause: 'causeId',
} as const satisfies Record<string, keyof JobFilter>
const KEYS = [...Object.keys(TEXT_KEYS), 'status', 'lease', 'older', 'younger']
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `key:value` pairs; a value may be in double quotes. A job must match all of them. */
export function parseFilter(text: string): ParsedFilter {
  const filter: JobFilter = {}
  const seen = new Set<string>()
  // The last alternative matches the rest of a broken token: none is skipped.
  for (const match of text.matchAll(/([a-z_]+):(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s"]+)(?=\s|$))|\S+/gi)) {
    const [token, key, quoted, bare] = match
    const problem = (message: string) => ({
      problem: { message, token: token.slice(0, 100), position: match.index },
    })
    const value = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, '$1')
    if (key === undefined || value === undefined)
      return problem(`expected key:value; put a value with spaces in double quotes`)
    const name = key.toLowerCase()
    if (!KEYS.includes(name)) return problem(noSuchKey(name))
    if (seen.has(name)) return problem(`${name} is given twice`)
    seen.add(name)
    const refusal = addTo(filter, name, value)
    if (refusal !== null) return problem(refusal)
  }
  return { filter }
}

function noSuchKey(name: string): string {
  const near = closestName(name, KEYS)
  return `unknown key ${name}; ${near === undefined ? `use ${KEYS.join(', ')}` : `did you mean ${near}?`}`
}

/** Null, or the reason why the value is refused. */
function addTo(filter: JobFilter, key: string, value: string): string | null {
  if (value === '' || value.length > 200 || value.includes('\0')) return `${key} takes 1 to 200 characters`
  if (Object.hasOwn(TEXT_KEYS, key)) {
    filter[TEXT_KEYS[key as keyof typeof TEXT_KEYS]] = value
    return null
  }
  if (key === 'status') {
    if (!STATUSES.includes(value)) return `status takes ${STATUSES.join(', ')}`
    filter.status = value as JobStatus
    return null
  }
  if (key === 'lease') {
    if (value !== '<0') return 'lease takes <0, for running jobs past their lease'
    filter.isOverdue = true
    return null
  }
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(value) ?? []
  if (count === undefined) return `${key} takes a duration: 30s, 10m, 2h, 1d`
  const ms = Number(count) * (UNITS_MS[unit] ?? 0)
  if (key === 'older') filter.olderThanMs = ms
  else filter.youngerThanMs = ms
  return null
}
