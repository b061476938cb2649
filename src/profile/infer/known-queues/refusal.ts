import { UnstuckError } from '../../../errors/index.ts'
import { type NamedColumns, queueOf } from './index.ts'

/** Why a table is not attached: another queue uses it and does not know our columns, statuses and leases. */
export function refusalOf(
  found: NamedColumns & { schema: string },
  { isAttached = false } = {},
): UnstuckError | null {
  const known = queueOf(found)
  if (known === null) return null
  const { name, remedy, page } = known.queue
  const table = `${found.schema}.${found.table}`
  const hints = [
    remedy,
    ...(page === undefined ? [] : [`How to move to unstuck: ${page}.`]),
    ...(isAttached ? [`An earlier version attached it. To undo that: unstuck detach --table ${table}.`] : []),
  ]
  return new UnstuckError('TABLE_OF_ANOTHER_QUEUE', `table ${table}: it belongs to ${name}`, {
    hint: hints.join(' '),
    details: { queue: name },
  })
}
