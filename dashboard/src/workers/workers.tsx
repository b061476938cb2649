import { useState } from 'react'
import type { Worker, WorkerList } from '../../../src/http/contract/index.ts'
import { drainWorker, useCommand } from '../api/commands.ts'
import { databaseNowMs } from '../api/database-clock.ts'
import { useLive } from '../api/live.ts'
import { KEPT_BEATS_MS } from '../api/live-state.ts'
import { useWorkers } from '../api/queries.ts'
import { cliLine } from '../format/cli-line.ts'
import { plural, showCount, showDuration } from '../format/show-time.ts'
import { Go } from '../shell/address.tsx'
import { useTableLive } from '../shell/use-table-live.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ChangeDialog } from '../ui/change-dialog.tsx'
import { Command, Empty, Page, Read } from '../ui/page.tsx'
import { say } from '../ui/toast.tsx'
import { type Tone, washOf } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { useTick } from '../ui/use-tick.ts'
import { signsOfLife, type WorkerView, workerViews } from './worker-views.ts'

const STATES: Record<Worker['state'], { tone: Tone; word: string; order: number }> = {
  zombie: { tone: 'bad', word: 'zombie: a job is past its deadline', order: 0 },
  silent: { tone: 'bad', word: 'silent, holds jobs', order: 1 },
  late: { tone: 'warn', word: 'late', order: 2 },
  draining: { tone: 'info', word: 'draining', order: 3 },
  live: { tone: 'good', word: 'live', order: 4 },
  gone: { tone: 'bad', word: 'killed or lost', order: 5 },
  stopped: { tone: 'quiet', word: 'stopped', order: 6 },
}

const HOUR_MS = 3_600_000

const PRESENCES: Record<Exclude<Worker['presence'], 'present'>, string> = {
  absent: 'absent: without its session, its jobs are requeued after the grace',
  gone: 'gone: its process has ended',
  pooled: 'pooled: behind a connection pooler, leases alone decide',
  off: 'presence off: leases alone decide',
}

export function WorkersPage() {
  const answer = useWorkers()
  const { leases } = useTableLive()
  const now = useTick(1_000)
  return (
    <Page
      title="Workers"
      lead="Each tick is a report or a heartbeat of the last 5 minutes. Hatched: silent until now."
    >
      <Read what="The workers" from={answer}>
        {({ workers, fleet }) => (
          <>
            <FleetLine fleet={fleet} />
            <Lanes views={workerViews(workers, leases ?? [], now)} />
          </>
        )}
      </Read>
    </Page>
  )
}

/** `5 workers: deploy in progress: 1 draining, 2 started within 2 min; versions 1.4.2 (2), 1.4.1 (1)` */
function FleetLine({ fleet }: { fleet: WorkerList['fleet'] }) {
  if (fleet.workers === 0) return null
  return (
    <p className={`rounded-lg px-4 py-2 ${fleet.is_deploying ? washOf.info : 'bg-raised text-soft'}`}>
      <span className="font-semibold">{plural(fleet.workers, 'worker')}</span>
      {fleet.text === null ? '' : `, ${fleet.text}`}
    </p>
  )
}

function Lanes({ views }: { views: WorkerView[] }) {
  const [hasEnded, setEnded] = useState(false)
  // A worker that was killed stays among the others for an hour.
  const isEnded = ({ state, report }: WorkerView) =>
    state === 'stopped' || (state === 'gone' && (report?.seen_ms ?? 0) > HOUR_MS)
  const ended = views.filter(isEnded)
  const shown = views
    .filter((view) => hasEnded || !isEnded(view))
    .toSorted((a, b) => STATES[a.state].order - STATES[b.state].order)
  return (
    <>
      {shown.length === 0 ? (
        <div className="panel">
          <Empty title="No workers.">
            <span className="flex flex-col items-center gap-2">
              Start one: <Command>unstuck worker handlers.js</Command>
            </span>
          </Empty>
        </div>
      ) : (
        <ul className="flex flex-col gap-3">
          {shown.map((view) => (
            <Lane key={view.id} view={view} />
          ))}
        </ul>
      )}
      {ended.length === 0 ? null : (
        <div>
          <Button kind="ghost" isPressed={hasEnded} onClick={() => setEnded(!hasEnded)}>
            {hasEnded ? 'Hide' : 'Show'} {plural(ended.length, 'worker')} that ended
          </Button>
        </div>
      )}
    </>
  )
}

function Lane({ view: { id, state, report, leases } }: { view: WorkerView }) {
  const { tone, word } = STATES[state]
  return (
    <li className="panel grid items-center gap-x-6 gap-y-2 px-4 py-3 lg:grid-cols-[20rem_minmax(0,1fr)_auto]">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <Go
            to="/jobs"
            values={{ q: `worker:${id}` }}
            className="link min-w-0 truncate font-mono text-xs leading-6 font-semibold"
          >
            {id}
          </Go>
          <Badge tone={tone}>{word}</Badge>
          {report?.app_version == null ? null : <Badge tone="quiet">{report.app_version}</Badge>}
          {report?.presence === 'absent' ? <Badge tone="warn">lost its session</Badge> : null}
        </p>
        {report === null ? (
          <p className="text-xs text-soft">{plural(leases, 'job')}; known only by its leases</p>
        ) : (
          <Report worker={report} />
        )}
      </div>
      <Beats id={id} report={report} isSilent={tone === 'bad' || tone === 'warn'} />
      {report === null ? null : <Drain worker={report} />}
    </li>
  )
}

function Report({ worker }: { worker: Worker }) {
  const notes = [
    `${showCount(worker.running)} of ${plural(worker.concurrency, 'slot')} busy`,
    ...(worker.claimed_ahead === 0 ? [] : [`${showCount(worker.claimed_ahead)} claimed ahead`]),
    `seen ${showDuration(worker.seen_ms)} ago`,
    ...(worker.state === 'gone' ? ['no stop reported'] : []),
    ...(worker.state !== 'stopped' || worker.exit_code === null ? [] : [`exit code ${worker.exit_code}`]),
    ...(worker.drain_requested_at === null || worker.state === 'stopped'
      ? []
      : [`asked to drain by ${worker.drain_requested_by ?? 'someone'}`]),
    ...(worker.loop_lag_ms === null || worker.loop_lag_ms < LAG_MS
      ? []
      : [`event loop late by ${Math.round(worker.loop_lag_ms)} ms`]),
  ]
  const types = worker.types.length === 0 ? 'any type' : worker.types.join(', ')
  return (
    <>
      <p>{notes.join(', ')}</p>
      <p className="truncate text-xs text-soft" title={types}>
        {types}
      </p>
      {worker.presence === 'present' ? null : (
        <p className="text-xs text-soft">{PRESENCES[worker.presence]}</p>
      )}
    </>
  )
}

/** A shorter lag is normal. */
const LAG_MS = 50

function Beats({ id, report, isSilent }: { id: string; report: Worker | null; isSilent: boolean }) {
  const { beats } = useLive()
  const now = databaseNowMs() ?? 0
  const times = signsOfLife(beats.get(id) ?? [], report, now)
  const last = times.at(-1) ?? (report === null ? now : Date.parse(report.seen_at))
  const shareOf = (time: number) => Math.min(1, Math.max(0, (now - time) / KEPT_BEATS_MS)) * 100
  return (
    <div
      className="flex flex-col gap-1"
      role="img"
      aria-label={`${plural(times.length, 'report or heartbeat', 'reports and heartbeats')} in the last 5 minutes, the last ${showDuration(now - last)} ago`}
    >
      <span className="relative block h-7 overflow-hidden rounded bg-raised/60">
        {isSilent ? (
          <span
            className="hatched absolute inset-y-0 right-0 opacity-60"
            style={{ width: `${shareOf(last)}%` }}
          />
        ) : null}
        {times.map((time) => (
          <span
            key={time}
            className="absolute inset-y-1 w-[3px] rounded-full bg-good-bar"
            style={{ right: `${shareOf(time)}%` }}
          />
        ))}
      </span>
      <span aria-hidden="true" className="flex justify-between text-[11px] text-soft">
        <span>5 min ago</span>
        <span>now</span>
      </span>
    </div>
  )
}

function Drain({ worker }: { worker: Worker }) {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal()
  const command = useCommand((reason: string) => drainWorker(worker, { reason }))
  const isOver = ['gone', 'stopped', 'draining'].includes(worker.state) || worker.drain_requested_at !== null
  return (
    <>
      <Button
        label={`Drain ${worker.id}`}
        refusal={refusal('drainWorker') ?? (isOver ? 'It is draining or has stopped.' : null)}
        onClick={() => setAsking(true)}
      >
        Drain
      </Button>
      {isAsking ? (
        <ChangeDialog
          title={`Drain ${worker.id}`}
          verb="Drain worker"
          effect="Stops claiming, finishes its running jobs and stops. This cannot be undone."
          cli={({ reason }) => cliLine(['workers', 'drain', worker.id], { reason })}
          close={() => setAsking(false)}
          run={async ({ reason }) => {
            await command.mutateAsync(reason)
            say(`${worker.id} is draining.`)
          }}
        />
      ) : null}
    </>
  )
}
