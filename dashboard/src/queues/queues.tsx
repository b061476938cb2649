import { RequestProblem } from '../api/client.ts'
import { reconnect } from '../api/live.ts'
import { showClock, showCount, showShort } from '../format/show-time.ts'
import { Go, useParam, useTimeMode } from '../shell/address.tsx'
import { useTableLive } from '../shell/use-table-live.ts'
import { Broken, Empty, Loading, Page, Panel, Read } from '../ui/page.tsx'
import { Sparkline } from '../ui/sparkline.tsx'
import { CardCell, CardRow, CardTable } from '../ui/table.tsx'
import { QueueTable } from './queue-table.tsx'
import { countedUntil, failureRate, RANGES, type Range, type TrendRow, trendRows } from './trends.ts'
import { useCountedTrends } from './use-counted-trends.ts'

export function QueuesPage() {
  const { queues, connection } = useTableLive()
  return (
    <Page title="Queues" lead="Waiting and running jobs now, and trends.">
      {queues !== null ? (
        queues.length === 0 ? (
          <div className="panel">
            <Empty title="No queue has unfinished jobs, a pause or a dependency." />
          </div>
        ) : (
          <QueueTable queues={queues} />
        )
      ) : connection === 'lost' ? (
        <Broken
          what="The queues"
          error={new RequestProblem(0, { detail: 'The server does not answer.' })}
          retry={reconnect}
        />
      ) : (
        <Loading what="queues" />
      )}
      <Throughput />
    </Page>
  )
}

function Throughput() {
  const [text, setText] = useParam('range')
  const range: Range = text !== null && text in RANGES ? (text as Range) : '1h'
  const { name, unit, hours } = RANGES[range]
  const [mode] = useTimeMode()
  const { answer: totals, countedMs } = useCountedTrends({ hours, span: 'total' })
  const spans = useCountedTrends(RANGES[range]).answer.data?.trends ?? []
  const until =
    countedMs === 0 ? '' : `, complete until ${showClock(countedUntil('minute', countedMs), mode)}`
  return (
    <Panel
      title={`Last ${name}${until}`}
      aside={<Ranges range={range} choose={(one) => setText(one === '1h' ? null : one)} />}
    >
      <Read what="The trends" from={totals}>
        {({ trends }) => {
          const rows = trendRows(trends, spans, range, countedMs)
          return rows.length === 0 ? (
            <Empty title={`Nothing was enqueued or finished in the last ${name}.`}>
              Workers write their counts once a minute.
            </Empty>
          ) : (
            <CardTable
              name="trends"
              columns={['Type and queue', ...NUMBERS, `Completed per ${unit}`]}
              numbers={NUMBERS}
            >
              {rows.map((row) => (
                <TotalRow key={row.key} row={row} unit={unit} />
              ))}
            </CardTable>
          )
        }}
      </Read>
    </Panel>
  )
}

const NUMBERS = ['Enqueued', 'Completed', 'Failed', 'Rescued', 'Wait p50, p95', 'Run p50, p95']

function TotalRow({ row: { total, line }, unit }: { row: TrendRow; unit: string }) {
  const rate = failureRate(total)
  const bound = (value: number) => (total.is_bounded && value > 0 ? '≥ ' : '') + showCount(value)
  return (
    <CardRow>
      <CardCell className="py-2 pr-4 max-sm:max-w-full sm:max-w-32 xl:max-w-72" title={total.type}>
        {total.type === '*' ? (
          'others'
        ) : (
          <Go
            to="/jobs"
            values={{ q: `type:${total.type}` }}
            className="link inline-flex min-h-6 max-w-full items-center"
          >
            <span className="truncate">{total.type}</span>
          </Go>
        )}
        {total.queue === total.type ? null : (
          <span className="block truncate text-xs text-soft">{total.queue}</span>
        )}
      </CardCell>
      <CardCell label="Enqueued" className="pr-4 text-right whitespace-nowrap">
        {bound(total.enqueued)}
      </CardCell>
      <CardCell label="Completed" className="pr-4 text-right whitespace-nowrap">
        {bound(total.completed)}
      </CardCell>
      <CardCell
        label="Failed"
        className={`pr-4 text-right whitespace-nowrap ${total.failed > 0 ? 'text-bad' : ''}`}
      >
        {bound(total.failed)}
        {rate === null || total.failed === 0 ? '' : ` (${rate === 100 ? '100' : rate.toFixed(1)} %)`}
      </CardCell>
      <CardCell label="Rescued" className="pr-4 text-right">
        {showCount(total.rescued)}
      </CardCell>
      <CardCell label="Wait p50, p95" className="py-1.5 pr-4 text-right whitespace-nowrap">
        <Durations p50={total.wait_p50_ms} p95={total.wait_p95_ms} />
      </CardCell>
      <CardCell label="Run p50, p95" className="py-1.5 pr-4 text-right whitespace-nowrap">
        <Durations p50={total.run_p50_ms} p95={total.run_p95_ms} />
      </CardCell>
      <CardCell className="align-middle sm:w-24 xl:w-40">
        <Sparkline name={`${total.type} completed per ${unit}`} values={line} />
      </CardCell>
    </CardRow>
  )
}

/** Bounds of buckets. */
function Durations({ p50, p95 }: { p50: number | null; p95: number | null }) {
  if (p50 === null || p95 === null) return <>–</>
  return (
    <>
      <span className="block">{`< ${showShort(p50)}`}</span>
      <span className="block text-xs text-soft">{`< ${showShort(p95)}`}</span>
    </>
  )
}

function Ranges({ range, choose }: { range: Range; choose: (range: Range) => void }) {
  return (
    <fieldset className="flex gap-1">
      <legend className="sr-only">Range</legend>
      {(Object.keys(RANGES) as Range[]).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={range === one}
          className={`min-h-7 rounded-full border px-3 text-xs font-medium ${range === one ? 'border-transparent bg-accent-fill text-white' : 'border-edge/60 text-soft hover:text-ink'}`}
          onClick={() => choose(one)}
        >
          {one}
        </button>
      ))}
    </fieldset>
  )
}
