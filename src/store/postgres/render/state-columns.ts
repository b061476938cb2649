// The status of a table that has none, but times: of the lock, of the success, of the failure (OPS-13).
import type { TableProfile } from '../../../profile/profile.ts'
import type { TimeTypes } from '../../../profile/time-type.ts'
import type { ColumnAccess } from './column-access.ts'
import { quoteLiteral } from './identifiers.ts'
import { writeTime } from './time-columns.ts'

type State = 'running' | 'succeeded' | 'dead'

/** The last that is set counts. */
const states: State[] = ['dead', 'succeeded', 'running']

export function statusAccess(table: TableProfile, timeTypes: TimeTypes): ['status', ColumnAccess][] {
  const { stateColumns } = table
  if (stateColumns === undefined) return []
  const has = states.filter((state) => stateColumns[state] !== undefined)
  const isState = (expression: string, state: State) =>
    `(${expression}) = ${quoteLiteral(wordOf(table, state))}`
  // The time at which it began, if it is in that state already.
  const valueOf = (state: State, expression: string) => {
    const began = (asked: State) => {
      const now = writeTime(setAt(table, asked), timeTypes[stateColumns[state] ?? ''])
      return `when ${isState(expression, asked)} then coalesce(job."state_${state}", ${now})`
    }
    // Without a time for it, a dead row keeps its lock: whoever waits for a free row must not take it.
    const keptBy: State[] = state === 'running' && stateColumns.dead === undefined ? [state, 'dead'] : [state]
    return `case ${keptBy.map(began).join(' ')} end`
  }
  const read = (reference: string) => {
    const alias = reference.slice(0, reference.indexOf('"'))
    const cases = has.map(
      (state) => `when ${alias}"state_${state}" is not null then ${quoteLiteral(wordOf(table, state))}`,
    )
    return `(case ${cases.join(' ')} else ${quoteLiteral(table.statuses.waiting)} end)`
  }
  return [
    [
      'status',
      {
        read,
        assign: (expression) =>
          has.map((state) => `"state_${state}" = ${valueOf(state, expression)}`).join(', '),
        assignNew: () => {
          throw new Error('no trigger writes a status')
        },
        // A new row waits, and has none of the times.
        insert: () => null,
      },
    ],
  ]
}

const wordOf = ({ statuses }: TableProfile, state: State) =>
  state === 'running' ? statuses.running[0] : statuses[state]

/** A state that no time can say later is refused. */
function setAt({ stateColumns, attachment }: TableProfile, state: State): string {
  const isSaid =
    state === 'running' ? stateColumns?.succeeded !== undefined : stateColumns?.[state] !== undefined
  return isSaid
    ? 'pg_catalog.clock_timestamp()'
    : `"unstuck".refuse_state(${quoteLiteral(attachment)}, ${quoteLiteral(state)})`
}
