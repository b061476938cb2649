import type { Remedy, Slo, SweepAnswer, TableHealth } from '../../../src/http/contract/index.ts'
import { RequestProblem } from '../api/client.ts'
import { previewSweep, useCommand } from '../api/commands.ts'
import { reconnect } from '../api/live.ts'
import { useSlo } from '../api/queries.ts'
import { quoted } from '../format/cli-line.ts'
import { holdText } from '../format/hold-text.ts'
import { plural, showCount, showDuration } from '../format/show-time.ts'
import { showTotal, totalOf } from '../format/totals.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'
import { useTableLive } from '../shell/use-table-live.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Broken, Loading, NotForYou, Page, Panel, Read } from '../ui/page.tsx'
import { useRefusal } from '../ui/use-refusal.ts'
import { Lateness } from './lateness.tsx'
import { ReclaimHistory } from './reclaim-history.tsx'
import { StalePanel } from './stale-panel.tsx'
import { SweepStrip } from './sweep-strip.tsx'

export function ReaperPage() {
  const { tables, connection } = useTableLive()
  const notAllowed = useRefusal()('readHealth')
  return (
    <Page
      title="Reaper"
      lead="Sweeps requeue jobs whose lease expired. Every worker sweeps; a dedicated reaper only sweeps."
    >
      {tables === null ? (
        notAllowed !== null ? (
          <NotForYou reason={notAllowed} />
        ) : connection === 'lost' ? (
          <Broken
            what="The sweeps"
            error={new RequestProblem(0, { detail: 'The server does not answer.' })}
            retry={reconnect}
          />
        ) : (
          <Loading what="sweeps" />
        )
      ) : (
        <ul className="grid gap-4 xl:grid-cols-[repeat(auto-fit,minmax(28rem,1fr))]">
          {tables.map((table) => (
            <li key={table.table}>
              <TableCard table={table} />
            </li>
          ))}
        </ul>
      )}
      <StalePanel />
      <Promised />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <Lateness tables={tables ?? []} />
        <SweepStrip />
      </div>
      <ReclaimHistory />
    </Page>
  )
}

const sweepOf = (table: string): Remedy => ({
  act: 'sweep',
  subject: '',
  effect: `Requeues every job of ${table} whose lease expired, now.`,
  command: `unstuck reap --once --table ${quoted(table)}`,
})

/** With the sweep, which is of one table: the server would take its first for a page of several. */
function TableCard({ table }: { table: TableHealth }) {
  const preview = useCommand(() => previewSweep(table.table))
  const refusal = useRefusal()('previewSweep')
  return (
    <section aria-label={`Table ${table.table}`} className="panel flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{table.table}</h2>
        <Badge tone={table.is_healthy ? 'good' : 'bad'}>{table.is_healthy ? 'healthy' : 'unhealthy'}</Badge>
        <span className="ml-auto flex flex-wrap gap-2">
          <RemedyButton remedy={sweepOf(table.table)} table={table.table} />
          <Button refusal={refusal} isBusy={preview.isPending} onClick={() => preview.mutate(undefined)}>
            Dry run
          </Button>
        </span>
      </div>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Number
          name="Last sweep by a reaper"
          value={table.reaper_age_ms === null ? 'never' : `${showDuration(table.reaper_age_ms)} ago`}
        />
        <Number name="Interval" value={showDuration(table.sweep_interval_ms)} />
        <Number
          name="Past their lease"
          value={showTotal(totalOf([table], 'overdue'))}
          note={table.oldest_overdue_ms === null ? '' : `by up to ${showDuration(table.oldest_overdue_ms)}`}
        />
        <Number name="Of unknown age" value={showTotal(totalOf([table], 'unjudged'))} />
      </dl>
      {table.hold_reason === null ? null : (
        <p className="rounded-md bg-warn-wash px-3 py-2 text-warn">{holdText(table.hold_reason)}</p>
      )}
      {preview.error === null ? null : <Broken what="The dry run" error={preview.error} />}
      {preview.data === undefined ? null : <Preview answer={preview.data} />}
    </section>
  )
}

function Number(props: { name: string; value: string; note?: string; isBad?: boolean }) {
  const { name, value, note = '', isBad = false } = props
  return (
    <div>
      <dt className="text-xs text-soft">{name}</dt>
      <dd className={`text-lg font-semibold ${isBad ? 'text-bad' : ''}`}>{value}</dd>
      {note === '' ? null : <dd className="text-xs text-soft">{note}</dd>}
    </div>
  )
}

function Promised() {
  const slo = useSlo()
  return (
    <Panel title="Promise: last heartbeat to next claim, without backoff" aside="last 24 hours">
      <Read what="The promise" from={slo}>
        {({ tables }) => (
          <ul className="flex flex-col gap-4">
            {tables.map((table) => (
              <li key={table.table}>
                <PromiseNumbers slo={table} />
              </li>
            ))}
          </ul>
        )}
      </Read>
    </Panel>
  )
}

/** `3 worker gone, 1 crash` */
function causesOf({ by_cause }: Slo): string {
  const causes = [
    [by_cause['worker-gone'], 'worker gone'],
    [by_cause.crash, 'lease expired'],
    [by_cause.timeout, 'timeout'],
  ] as const
  return causes
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${showCount(count)} ${word}`)
    .join(', ')
}

function PromiseNumbers({ slo }: { slo: Slo }) {
  const shown = (ms: number | null) => (ms === null ? '–' : showDuration(ms))
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4 xl:grid-cols-7">
      <Number name="Table" value={slo.table} />
      <Number name="Rescued" value={showCount(slo.rescued)} note={causesOf(slo)} />
      <Number
        name="In time"
        value={slo.share === null ? '–' : `${(slo.share * 100).toFixed(slo.share === 1 ? 0 : 1)} %`}
        note={
          slo.rescued === 0
            ? 'none runs again yet'
            : slo.is_kept
              ? 'promise kept'
              : `${slo.rescued - slo.in_time} late`
        }
        isBad={!slo.is_kept}
      />
      <Number name="Promised" value={showDuration(slo.promise_ms)} note="with the default lease" />
      <Number name="Median" value={shown(slo.p50_ms)} />
      <Number name="p95" value={shown(slo.p95_ms)} />
      <Number name="Worst" value={shown(slo.worst_ms)} />
    </dl>
  )
}

function Preview({ answer }: { answer: SweepAnswer }) {
  return (
    <div className="border-t border-line pt-3">
      <p className="mb-2 text-xs text-soft">Dry run: nothing was changed.</p>
      {answer.reaped.length === 0 ? (
        <p role="status">A sweep now would requeue nothing.</p>
      ) : (
        <>
          <p role="status" className="mb-2">
            A sweep now would change {plural(answer.reaped.length, 'job')}:
          </p>
          <ul className="flex flex-col gap-1">
            {answer.reaped.map(({ id, action, reason, stage }) => (
              <li key={id} className="flex flex-wrap items-center gap-2">
                <Badge tone={action === 'dead' ? 'bad' : 'info'}>{action}</Badge>
                <JobId id={id} table={answer.table} />
                <span>{stage}</span>
                <span className="text-soft">{reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {answer.hold_reason === null ? null : <p className="mt-2 text-warn">{holdText(answer.hold_reason)}</p>}
    </div>
  )
}
