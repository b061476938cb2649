import { useState } from 'react'
import type { Reclaim } from '../../../src/http/contract/index.ts'
import { useReclaims } from '../api/queries.ts'
import { showDuration } from '../format/show-time.ts'
import { useParam } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Panel, Read } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

const PAGE_SIZE = 25

export function ReclaimHistory() {
  const [worker, setWorker] = useParam('worker')
  const [stage, setStage] = useParam('stage')
  const answer = useReclaims({ worker, stage }, PAGE_SIZE)
  return (
    <Panel
      title="Reclaim history"
      aside={
        <span className="flex flex-wrap gap-2">
          <Filter key={`w${worker}`} label="Worker" value={worker} change={setWorker} />
          <Filter key={`s${stage}`} label="Stage" value={stage} change={setStage} />
        </span>
      }
    >
      <Read what="The history" from={answer}>
        {({ pages }) => {
          const reclaims = pages.flatMap((page) => page.reclaims)
          return reclaims.length === 0 ? (
            <p className="text-soft">
              {worker === null && stage === null ? 'No rescues yet.' : 'No matching rescues.'}
            </p>
          ) : (
            <Table name="rescues" columns={COLUMNS}>
              {reclaims.map((reclaim) => (
                <Row key={`${reclaim.table}/${reclaim.id}`} reclaim={reclaim} />
              ))}
            </Table>
          )
        }}
      </Read>
      {answer.hasNextPage ? (
        <div className="mt-3 text-center">
          <Button isBusy={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
            Older rescues
          </Button>
        </div>
      ) : null}
    </Panel>
  )
}

const COLUMNS = ['Requeued', 'Job', 'Stage', 'Attempt', 'From worker', 'Reason', 'Late by', 'Dark', 'Then']

function Row({ reclaim }: { reclaim: Reclaim }) {
  const { job_id, table, stage, attempt, worker_id, action, reason, lateness_ms, dark_ms } = reclaim
  const shown = (ms: number | null) => (ms === null ? '–' : showDuration(ms))
  return (
    <tr className="border-t border-line">
      <td className="py-1.5 pr-4">
        <Time at={reclaim.reaped_at} />
      </td>
      <td className="pr-4 font-mono text-xs">
        <JobId id={job_id} table={table} />
      </td>
      <td className="pr-4">{stage ?? reclaim.type ?? '–'}</td>
      <td className="pr-4">{attempt}</td>
      <td className="max-w-56 truncate pr-4 font-mono text-xs" title={worker_id ?? undefined}>
        {worker_id ?? '–'}
      </td>
      <td className="pr-4 whitespace-nowrap">{reason.replaceAll('_', ' ')}</td>
      <td className="pr-4 whitespace-nowrap">{shown(lateness_ms)}</td>
      <td className="pr-4 whitespace-nowrap">{shown(dark_ms)}</td>
      <td className="whitespace-nowrap">
        <Badge tone={action === 'dead' ? 'bad' : action === 'requeued' ? 'good' : 'quiet'}>{action}</Badge>{' '}
        {reclaim.claimed_by === null ? null : (
          <span className="font-mono text-xs text-soft">→ {reclaim.claimed_by}</span>
        )}
      </td>
    </tr>
  )
}

interface FilterProps {
  label: string
  value: string | null
  change: (value: string | null) => void
}

function Filter({ label, value, change }: FilterProps) {
  const [text, setText] = useState(value ?? '')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change(text.trim() === '' ? null : text.trim())
      }}
    >
      <input
        type="search"
        aria-label={`${label} of the rescues`}
        placeholder={label}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          if (event.target.value === '') change(null)
        }}
        className="min-h-8 w-36 rounded-md border border-edge/60 bg-ground px-2 text-ink placeholder:text-soft"
      />
    </form>
  )
}
