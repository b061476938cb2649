// Infers the times of a table for a draft: the zone of those without one, the unit of integers, and the columns that tell the age
// of a running row beside the engine's.
import type { OwnTable } from '../own-profile.ts'
import { type LogicalColumn, timeColumns } from '../profile.ts'
import { type EpochUnit, isEpoch, isTimeType, isZoneless } from '../time-type.ts'
import { columnNames } from './column-names.ts'
import { isSignOfLife } from './sign-of-life.ts'
import { inSnakeCase } from './snake-case.ts'
import type { TableShape } from './table-shape.ts'

const timeNames = new Set<string>(timeColumns.flatMap((column) => columnNames[column] ?? []))

/** By its name. An integer of another name is no time. */
export const mayHoldTime = (name: string): boolean => timeNames.has(inSnakeCase(name)) || isSignOfLife(name)

/** The unit of the table's integer times. Another unit beside it is not used. */
function epochUnitOf({ columns }: TableShape): EpochUnit | undefined {
  return Object.values(columns).find(({ epochUnit }) => epochUnit != null)?.epochUnit ?? undefined
}

/** Why a column cannot hold the engine's time, or null. */
export function whyNoTime(column: LogicalColumn, shape: TableShape, name: string): string | null {
  const found = shape.columns[name]
  if (!timeColumns.some((time) => time === column) || found === undefined || !isEpoch(found.type)) return null
  if (found.epochUnit === undefined) return `is ${found.type}, and no row shows its unit of time`
  if (found.epochUnit === null) return `is ${found.type}, and its values are no times`
  return found.epochUnit === epochUnitOf(shape) ? null : 'counts in another unit than other times'
}

export interface InferredTimes extends Pick<OwnTable, 'timeZone' | 'epochUnit' | 'teamAgeColumns'> {
  questions: string[]
}

/** `taken` are the columns that the profile uses already. */
export function inferTimes(shape: TableShape, taken: ReadonlySet<string>): InferredTimes {
  const unit = epochUnitOf(shape)
  const typeOf = (name: string) => shape.columns[name]?.type ?? ''
  const others = Object.keys(shape.columns).filter(
    (name) =>
      !taken.has(name) &&
      isSignOfLife(name) &&
      isTimeType(typeOf(name)) &&
      (!isEpoch(typeOf(name)) || (unit !== undefined && shape.columns[name]?.epochUnit === unit)),
  )
  const used = Object.keys(shape.columns).filter((name) => taken.has(name) || others.includes(name))
  const zoneless = used.filter((name) => isZoneless(typeOf(name)))
  const hasEpochs = unit !== undefined && used.some((name) => shape.columns[name]?.epochUnit === unit)
  return {
    ...(zoneless.length === 0 ? {} : { timeZone: 'UTC' }),
    ...(hasEpochs ? { epochUnit: unit } : {}),
    ...(others.length === 0 ? {} : { teamAgeColumns: others }),
    questions:
      zoneless.length === 0
        ? []
        : [
            `timeZone: ${zoneless.join(', ')}: no time zone. Does the application write UTC, as Prisma and Rails do?`,
          ],
  }
}
