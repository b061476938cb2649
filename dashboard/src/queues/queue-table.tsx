import type { Queue } from '../../../src/http/contract/index.ts'
import { pauseQueue, resumeQueue } from '../api/commands.ts'
import { useWorkers } from '../api/queries.ts'
import { HoldControl } from '../dependencies/hold-control.tsx'
import { showCount, showDuration } from '../format/show-time.ts'
import { showTotal, totalOf } from '../format/totals.ts'
import { Go } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Panel } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'

export function QueueTable({ queues }: { queues: Queue[] }) {
  const workers = useWorkers().data?.workers
  // By default the queue of a job is its type.
  const handling =
    workers === undefined
      ? null
      : (queue: string) =>
          workers.filter(
            ({ state, types }) => (state === 'live' || state === 'late') && types.includes(queue),
          ).length
  return (
    <Panel title="Now">
      <Table name="queues" columns={['Queue', 'Due', 'Waiting', 'Running', 'Workers', 'Dependency', '']}>
        {queues.map((queue) => (
          <tr key={`${queue.table}/${queue.queue}`} className="border-t border-line">
            <td className="py-2 pr-4">
              <Go to="/jobs" values={{ q: `queue:${queue.queue}`, table: queue.table }}>
                {queue.queue}
              </Go>{' '}
              {queue.is_paused ? <Badge tone="warn">paused</Badge> : null}
              {queue.is_paused ? <p className="text-xs text-soft">{pauseText(queue)}</p> : null}
            </td>
            <td className="pr-4">{showTotal(totalOf([queue], 'due'))}</td>
            <td className="pr-4">{showTotal(totalOf([queue], 'waiting'))}</td>
            <td className="pr-4">
              {showTotal(totalOf([queue], 'running'))}
              <p className="text-xs text-soft">{limitText(queue)}</p>
            </td>
            <td className="pr-4">{handling === null ? '–' : showCount(handling(queue.queue))}</td>
            <td className="pr-4">
              {queue.dependency === null ? '–' : <Go to="/dependencies">{queue.dependency}</Go>}{' '}
              {queue.breaker_state === null || queue.breaker_state === 'closed' ? null : (
                <Badge tone="warn">{queue.breaker_state}</Badge>
              )}
            </td>
            <td>
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
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
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

/** `by ana: “deploy”, for 9 min 12 s more` */
export function pauseText({ paused_by, pause_reason, paused_for_ms }: Queue): string {
  const by = paused_by === null ? 'by someone' : `by ${paused_by}`
  const why = pause_reason === null ? '' : `: “${pause_reason}”`
  const end = paused_for_ms === null ? ', until it is resumed' : `, for ${showDuration(paused_for_ms)} more`
  return by + why + end
}
