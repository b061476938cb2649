import type { LastSweep, Sweep } from '../../../src/http/contract/index.ts'
import { useSweeps } from '../api/queries.ts'
import { plural, showCount, showShort } from '../format/show-time.ts'
import { Panel, Read } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

const ROWS = 6
const HEIGHT = 48

/** Sweeps that found jobs: a column each, newest on the right, and the last ones as a table. */
export function SweepStrip() {
  const answer = useSweeps()
  return (
    <Panel title="Sweeps that found jobs" aside={<LastSweeps last={answer.data?.last ?? []} />}>
      <Read what="The sweeps" from={answer}>
        {({ sweeps }) =>
          sweeps.length === 0 ? (
            <p className="text-soft">No sweep has found jobs yet.</p>
          ) : (
            <div className="flex flex-col gap-3">
              <Strip sweeps={sweeps.toReversed()} />
              <Table name="sweeps" columns={COLUMNS} numbers={COLUMNS.slice(2)}>
                {sweeps.slice(0, ROWS).map((sweep) => (
                  <Row key={`${sweep.table}/${sweep.id}`} sweep={sweep} />
                ))}
              </Table>
            </div>
          )
        }
      </Read>
    </Panel>
  )
}

function LastSweeps({ last }: { last: LastSweep[] }) {
  if (last.length === 0) return null
  const took = last.map(({ table, duration_ms }) =>
    last.length === 1 ? showShort(duration_ms) : `${table} ${showShort(duration_ms)}`,
  )
  return <>last sweep took {took.join(', ')}</>
}

function Strip({ sweeps }: { sweeps: Sweep[] }) {
  const most = Math.max(...sweeps.map(({ found }) => found), 1)
  const height = (count: number) => `${(count / most) * HEIGHT}px`
  return (
    <div
      role="img"
      aria-label={`${plural(sweeps.length, 'sweep')}, the largest found ${plural(most, 'job')}`}
      className="flex items-end gap-1 overflow-hidden border-b border-line"
      style={{ height: `${HEIGHT}px` }}
    >
      {sweeps.map(({ id, table, found, requeued, dead, cancelled }) => (
        <span key={`${table}/${id}`} className="flex w-3 shrink-0 flex-col overflow-hidden rounded-t-sm">
          <span className="bg-bad-bar" style={{ height: height(dead) }} />
          <span className="bg-good-bar" style={{ height: height(requeued + cancelled) }} />
          <span
            className="bg-edge"
            style={{ height: height(Math.max(0, found - requeued - dead - cancelled)) }}
          />
        </span>
      ))}
    </div>
  )
}

const COLUMNS = ['When', 'By', 'Found', 'Requeued', 'Dead', 'Skipped', 'Held', 'Took']

function Row({ sweep }: { sweep: Sweep }) {
  const { began_at, reaper_id, actor, note, found, requeued, dead, skipped, held, duration_ms } = sweep
  const by = actor === null ? (reaper_id ?? '–') : `${actor}${note === null ? '' : `: “${note}”`}`
  return (
    <tr className="border-t border-line">
      <td className="py-1.5 pr-4">
        <Time at={began_at} isRelative />
      </td>
      <td className="w-full max-w-0 min-w-16 truncate pr-4 font-mono text-xs" title={by}>
        {by}
      </td>
      {[found, requeued, dead, skipped, held].map((count, index) => (
        <td key={COLUMNS[index + 2]} className="pr-4 text-right">
          {showCount(count)}
        </td>
      ))}
      <td className="pr-4 text-right whitespace-nowrap">{showShort(duration_ms)}</td>
    </tr>
  )
}
