import { RequestProblem } from '../api/client.ts'
import { databaseNowMs } from '../api/database-clock.ts'
import { reconnect } from '../api/live.ts'
import { useTrends } from '../api/queries.ts'
import { showCount, showDuration } from '../format/show-time.ts'
import { Go, useParam } from '../shell/address.tsx'
import { useTableLive } from '../shell/use-table-live.ts'
import { Broken, Empty, Loading, Page, Panel, Read } from '../ui/page.tsx'
import { Sparkline } from '../ui/sparkline.tsx'
import { Table } from '../ui/table.tsx'
import { QueueTable } from './queue-table.tsx'
import { failureRate, RANGES, type Range, sumTrends, type TrendSum } from './trends.ts'

export function QueuesPage() {
  const { queues, connection } = useTableLive()
  return (
    <Page title="Queues" lead="What waits and runs now, and how it went.">
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
  const { name, unit } = RANGES[range]
  const trends = useTrends(RANGES[range])
  return (
    <Panel
      title={`Last ${name}, by queue and type`}
      aside={<Ranges range={range} choose={(one) => setText(one === '1h' ? null : one)} />}
    >
      <Read what="The trends" from={trends}>
        {({ trends: rows }) => {
          const sums = sumTrends(rows, range, databaseNowMs() ?? 0)
          return sums.length === 0 ? (
            <Empty title={`Nothing was enqueued or finished in the last ${name}.`}>
              Workers write their counts once a minute.
            </Empty>
          ) : (
            <Table
              name="trends"
              columns={[
                'Queue',
                'Type',
                'Enqueued',
                'Completed',
                'Failed',
                'Rescued',
                `Wait p95, worst ${unit}`,
                `Run p95, worst ${unit}`,
                `Completed per ${unit}`,
              ]}
            >
              {sums.map((sum) => (
                <SumRow key={sum.key} sum={sum} unit={unit} />
              ))}
            </Table>
          )
        }}
      </Read>
    </Panel>
  )
}

function SumRow({ sum, unit }: { sum: TrendSum; unit: string }) {
  const rate = failureRate(sum)
  const bound = sum.isBounded ? '≥ ' : ''
  const upTo = (ms: number | null) => (ms === null ? '–' : `< ${showDuration(ms)}`)
  return (
    <tr className="border-t border-line">
      <td className="py-2 pr-4">{sum.queue === '*' ? 'others' : sum.queue}</td>
      <td className="pr-4">
        {sum.type === '*' ? (
          'others'
        ) : (
          <Go to="/jobs" values={{ q: `type:${sum.type}` }}>
            {sum.type}
          </Go>
        )}
      </td>
      <td className="pr-4">{bound + showCount(sum.enqueued)}</td>
      <td className="pr-4">{bound + showCount(sum.completed)}</td>
      <td className={`pr-4 whitespace-nowrap ${sum.failed > 0 ? 'text-bad' : ''}`}>
        {bound + showCount(sum.failed)}
        {rate === null || sum.failed === 0 ? '' : ` (${rate.toFixed(1)} %)`}
      </td>
      <td className="pr-4">{bound + showCount(sum.rescued)}</td>
      <td className="pr-4 whitespace-nowrap">{upTo(sum.waitP95Ms)}</td>
      <td className="pr-4 whitespace-nowrap">{upTo(sum.runP95Ms)}</td>
      <td className="w-40">
        <Sparkline name={`${sum.type} completed per ${unit}`} values={sum.line} />
      </td>
    </tr>
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
