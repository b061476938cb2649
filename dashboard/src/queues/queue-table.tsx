import type { Queue, Trend, Worker } from '../../../src/http/contract/index.ts'
import { pauseQueue, resumeQueue } from '../api/commands.ts'
import { useTrends, useWorkers } from '../api/queries.ts'
import { HoldControl } from '../dependencies/hold-control.tsx'
import { showCount, showDuration } from '../format/show-time.ts'
import { showTotal, totalOf } from '../format/totals.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'
import { Go } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Panel } from '../ui/page.tsx'
import { CardCell, CardRow, CardTable } from '../ui/table.tsx'
import { useMissingWorker } from './use-missing-worker.ts'

const WEEK_HOURS = 168
const NUMBERS = ['Due', 'Oldest due', 'Waiting', 'Running', 'Workers']

export function QueueTable({ queues }: { queues: Queue[] }) {
  const workers = useWorkers().data?.workers
  const trends = useTrends({ hours: WEEK_HOURS, span: 'total' }).data?.trends
  return (
    <Panel title="Now">
      <CardTable name="queues" columns={['Queue', ...NUMBERS, 'Dependency', '']} numbers={NUMBERS}>
        {queues.map((queue) => (
          <QueueRow
            key={`${queue.table}/${queue.queue}`}
            queue={queue}
            handling={
              workers === undefined || trends === undefined ? null : handlingCount(queue, workers, trends)
            }
          />
        ))}
      </CardTable>
    </Panel>
  )
}

function QueueRow({ queue, handling }: { queue: Queue; handling: number | null }) {
  const missing = useMissingWorker(queue)
  return (
    <CardRow>
      <CardCell className="min-w-36 py-2 pr-4 sm:min-w-48">
        <Go
          to="/jobs"
          values={{ q: `queue:${queue.queue}`, table: queue.table }}
          className="link inline-flex min-h-6 max-w-full min-w-6 items-center sm:max-w-56 xl:max-w-72"
        >
          <span className="truncate" title={queue.queue}>
            {queue.queue}
          </span>
        </Go>{' '}
        {queue.is_paused ? <Badge tone="warn">paused</Badge> : null}
        {queue.is_paused ? <p className="text-xs text-soft">{pauseText(queue)}</p> : null}
        {missing === null ? null : (
          <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-bad">
            <p className="max-w-56 xl:max-w-80">{missing.message}</p>
            {missing.remedies.map((remedy) => (
              <RemedyButton key={remedy.act} remedy={remedy} table={queue.table} />
            ))}
          </div>
        )}
      </CardCell>
      <CardCell label="Due" className="pr-4 text-right">
        {showTotal(totalOf([queue], 'due'))}
      </CardCell>
      <CardCell label="Oldest due" className="pr-4 text-right whitespace-nowrap">
        {oldestText(queue)}
      </CardCell>
      <CardCell label="Waiting" className="pr-4 text-right">
        {showTotal(totalOf([queue], 'waiting'))}
      </CardCell>
      <CardCell label="Running" className="pr-4 text-right">
        {showTotal(totalOf([queue], 'running'))}
        <p className="text-xs text-soft">{limitText(queue)}</p>
      </CardCell>
      <CardCell label="Workers" className={`pr-4 text-right ${missing === null ? '' : 'text-bad'}`}>
        {missing !== null ? 'none' : handling === null ? '–' : showCount(handling)}
      </CardCell>
      <CardCell label="Dependency" className="pr-4">
        {queue.dependency === null ? '–' : <Go to="/dependencies">{queue.dependency}</Go>}{' '}
        {queue.breaker_state === null || queue.breaker_state === 'closed' ? null : (
          <Badge tone="warn">{queue.breaker_state}</Badge>
        )}
      </CardCell>
      <CardCell className="py-1.5 text-right">
        <HoldControl
          target={{ id: queue.queue, table: queue.table }}
          isOn={queue.is_paused}
          hold={pauseQueue}
          resume={resumeQueue}
          words={{
            hold: 'Pause',
            resume: 'Resume',
            effect: 'Stops claims from this queue. Running jobs continue.',
          }}
          cli={['queues', 'pause']}
          commands={['pauseQueue', 'resumeQueue']}
        />
      </CardCell>
    </CardRow>
  )
}

/** `of 10 at once, 1 of each group in order` */
function limitText({ concurrency, group_concurrency, group_order }: Queue): string {
  const order = group_order === null ? '' : ' in order'
  const parts = [
    ...(concurrency === null ? [] : [`of ${showCount(concurrency)} at once`]),
    ...(group_concurrency === null ? [] : [`${showCount(group_concurrency)} of each group${order}`]),
  ]
  return parts.join(', ')
}

/**
 * Live workers that handle a type of the queue: those of the last week, and by default the queue is named after its type. Null if its
 * types are not known.
 */
function handlingCount({ queue, table }: Queue, workers: Worker[], trends: Trend[]): number | null {
  const own = trends.filter((trend) => trend.queue === queue && trend.table === table)
  const types = new Set([queue, ...own.map(({ type }) => type)])
  const handling = workers.filter(
    (worker) =>
      (worker.state === 'live' || worker.state === 'late') && worker.types.some((type) => types.has(type)),
  )
  return handling.length === 0 && own.length === 0 ? null : handling.length
}

function oldestText({ oldest_due_ms, at_least }: Queue): string {
  if (oldest_due_ms === null) return '–'
  return `${at_least.includes('oldest_due_ms') ? '≥ ' : ''}${showDuration(oldest_due_ms)}`
}

/** `by ana: “deploy”, for 9 min 12 s more` */
export function pauseText({ paused_by, pause_reason, paused_for_ms }: Queue): string {
  const by = paused_by === null ? 'by someone' : `by ${paused_by}`
  const why = pause_reason === null ? '' : `: “${pause_reason}”`
  const end = paused_for_ms === null ? ', until it is resumed' : `, for ${showDuration(paused_for_ms)} more`
  return by + why + end
}
