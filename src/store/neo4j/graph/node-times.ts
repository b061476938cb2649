// Times as teams write them: datetime, localdatetime, ISO text, or a number since 1970. Numbers need the profile's `epochUnit`.
import neo4j, { type DateTime, type Integer } from 'neo4j-driver'
import { type TableProfile, timeZoneOf } from '../../../profile/profile.ts'

/** Days that exist in every year, so that reading them cannot fail. */
const DAY = '((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)'
const CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?'
const ZONE = '(Z|[+-](0[0-9]|1[0-7]):?[0-5][0-9])?'
const ISO = `[0-9]{4}-${DAY}T${CLOCK}${ZONE}`
const HAS_ZONE = /(Z|[+-]\d\d:?\d\d)$/
const unitMs = { s: 1000, ms: 1 } as const

/** A time of a node as a datetime; anything else stays, for doctor to report. */
export function fromTeamTime({ epochUnit, ...table }: TableProfile, value: unknown): unknown {
  if (neo4j.isLocalDateTime(value)) return parsed(`${value.toString()}${offsetOf(table)}`) ?? value
  if (typeof value === 'string')
    return parsed(HAS_ZONE.test(value) ? value : `${value}${offsetOf(table)}`) ?? value
  const isNumber = typeof value === 'number' || neo4j.isInt(value)
  if (!isNumber || epochUnit === undefined) return value
  return toUtc(new Date(Number(value) * unitMs[epochUnit])) ?? value
}

/** As the team's own code writes it: a number with `epochUnit`, a localdatetime with `timeZone`, else a datetime. */
export function toTeamTime(table: TableProfile, value: DateTime): unknown {
  const { epochUnit } = table
  const ms = value.toStandardDate().getTime()
  // Rounded up: a lease must not end early.
  if (epochUnit !== undefined) return neo4j.int(Math.ceil(ms / unitMs[epochUnit]))
  if (table.timeZone === undefined) return value
  return new neo4j.types.LocalDateTime(...partsOf(new Date(ms + offsetMs(offsetOf(table)))))
}

/** A Cypher expression of a datetime, or null. It cannot fail, whatever the value is. Its double quotes fit into APOC's statements. */
export function timeExpression({ epochUnit, ...table }: TableProfile, value: string): string {
  const zero = 'datetime({epochMillis: 0})'
  const unit = epochUnit === undefined ? null : unitMs[epochUnit]
  const zone = offsetOf(table)
  return [
    `(CASE WHEN ${value} >= ${zero} OR ${value} < ${zero} THEN ${value}`,
    `WHEN ${value} >= localdatetime({year: 1}) THEN datetime({datetime: ${value}, timezone: "${zone}"})`,
    ...(unit === null
      ? []
      : [
          `WHEN ${value} > 0 AND ${value} < ${1e14 / unit} THEN datetime({epochMillis: toInteger(${value} * ${unit})})`,
        ]),
    `WHEN ${value} =~ "${ISO}" THEN datetime(${value}) END)`,
  ].join(' ')
}

/** A fixed offset. The offset of a named zone changes, so its times count as UTC. */
function offsetOf(table: Pick<TableProfile, 'timeZone'>): string {
  const zone = timeZoneOf(table)
  return /^[+-]\d\d:\d\d$/.test(zone) ? zone : 'Z'
}

function offsetMs(offset: string): number {
  if (offset === 'Z') return 0
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number)
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

function parsed(text: string): DateTime | null {
  return toUtc(new Date(text.replace(/(\.\d{3})\d+/, '$1')))
}

function toUtc(date: Date): DateTime | null {
  return Number.isNaN(date.getTime()) ? null : toDateTime(date)
}

/** In UTC, whatever the zone of this process. */
export function toDateTime(date: Date): DateTime {
  return new neo4j.types.DateTime(...partsOf(date), neo4j.int(0))
}

type Parts = [Integer, Integer, Integer, Integer, Integer, Integer, Integer]

function partsOf(date: Date): Parts {
  return [
    neo4j.int(date.getUTCFullYear()),
    neo4j.int(date.getUTCMonth() + 1),
    neo4j.int(date.getUTCDate()),
    neo4j.int(date.getUTCHours()),
    neo4j.int(date.getUTCMinutes()),
    neo4j.int(date.getUTCSeconds()),
    neo4j.int(date.getUTCMilliseconds() * 1_000_000),
  ]
}
