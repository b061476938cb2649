import { useState } from 'react'
import type { DeadLetterList, Queue, TableHealth, Worker } from '../../../src/http/contract/index.ts'
import { RequestProblem } from '../api/client.ts'
import { reconnect } from '../api/live.ts'
import { useDeadLetters, useWorkers } from '../api/queries.ts'
import { plural, showCount, showDuration } from '../format/show-time.ts'
import { showTotal, showTotalOf, type Total, totalOf } from '../format/totals.ts'
import { isHeld } from '../queues/is-held.ts'
import { Go } from '../shell/address.tsx'
import { useKey } from '../shell/shortcuts.tsx'
import { useTableLive } from '../shell/use-table-live.ts'
import { Button } from '../ui/button.tsx'
import { Broken, Command, Empty, Loading, Page, Panel } from '../ui/page.tsx'
import { washOf } from '../ui/tone.ts'
import { LastHour } from './last-hour.tsx'
import { LeaseField, LeaseTable } from './lease-field.tsx'
import { RescueTicker } from './rescue-ticker.tsx'

export function NowPage() {
  const { leases, hasMoreLeases, tables, queues, connection } = useTableLive()
  const [isTable, setTable] = useState(false)
  useKey('v', () => setTable(!isTable))
  const running = tables === null ? null : totalOf(tables, 'running')
  const aside = (
    <Button kind="ghost" isPressed={isTable} onClick={() => setTable(!isTable)}>
      Table <kbd className="rounded border border-line px-1.5 font-mono text-[11px]">v</kbd>
    </Button>
  )
  return (
    <Page
      title="Now"
      lead="Each bar is a lease. It empties until the next heartbeat; when it runs out, the job is requeued."
    >
      <Flow tables={tables} />
      <Deploy />
      <LastHour />
      <div className="grid items-start gap-4 min-[1360px]:grid-cols-[minmax(0,1fr)_21rem]">
        <Panel title={titleOf(leases, hasMoreLeases, running)} aside={aside}>
          {leases === null ? (
            connection === 'lost' ? (
              <Broken
                what="Running jobs"
                error={new RequestProblem(0, { detail: 'The server does not answer.' })}
                retry={reconnect}
              />
            ) : (
              <Loading what="running jobs" />
            )
          ) : leases.length === 0 && hasMoreLeases && running?.count !== 0 ? (
            <Empty title="More jobs run than are shown here.">
              <Go to="/jobs" values={{ q: 'status:running' }} className="link">
                All running jobs
              </Go>
            </Empty>
          ) : leases.length === 0 ? (
            <NothingRuns due={tables === null ? null : totalOf(tables, 'due')} queues={queues ?? []} />
          ) : isTable ? (
            <LeaseTable leases={leases} hasMore={hasMoreLeases} />
          ) : (
            <LeaseField leases={leases} hasMore={hasMoreLeases} />
          )}
        </Panel>
        <Panel title="Rescues" aside={<Go to="/reaper">Reaper details</Go>}>
          <RescueTicker />
        </Panel>
      </div>
    </Page>
  )
}

/** The stream has the first leases only: their number is not that of the running jobs. */
function titleOf(leases: unknown[] | null, hasMore: boolean, running: Total | null): string {
  if (leases === null) return 'Running'
  if (!hasMore) return plural(leases.length, 'running job')
  return running === null ? 'Running jobs' : showTotalOf(running, 'running job')
}

function NothingRuns({ due, queues }: { due: Total | null; queues: Queue[] }) {
  const workers = useWorkers()
  // A viewer limited to one owner sees neither due jobs nor workers.
  if (due === null || workers.data === undefined) return <Empty title="No running jobs." />
  const live = workers.data.workers.filter(({ state }) => state === 'live' || state === 'late')
  const held = totalOf(queues.filter(isHeld), 'due')
  return (
    <Empty title="No running jobs.">
      {due.count === 0 ? (
        'Nothing is due. '
      ) : (
        <>
          {showTotalOf(due, 'job')} {due.count === 1 ? 'is' : 'are'} due
          {held.count === 0 ? '' : `, ${showTotal(held)} of them in queues that are paused or on hold`}.{' '}
          <Go to="/queues" className="link">
            See what they wait for
          </Go>
          .{' '}
        </>
      )}
      {live.length > 0 ? (
        `${plural(live.length, 'worker')} ${live.length === 1 ? 'is' : 'are'} live.`
      ) : (
        <span className="mt-3 flex flex-col items-center gap-2">
          Start a worker:
          <Command>unstuck worker handlers.js</Command>
        </span>
      )}
    </Empty>
  )
}

function Flow({ tables }: { tables: TableHealth[] | null }) {
  const deadLetters = useDeadLetters()
  const total = (name: 'waiting' | 'due' | 'running' | 'overdue') =>
    tables === null ? null : totalOf(tables, name)
  const oldest =
    tables === null ? null : Math.max(0, ...tables.map(({ oldest_due_ms }) => oldest_due_ms ?? 0))
  const [waiting, due, overdue] = [total('waiting'), total('due'), total('overdue')]
  const dead = deadLetters.data === undefined ? null : deadTotal(deadLetters.data)
  const causes = deadLetters.data?.groups.length ?? 0
  return (
    <ul className="grid grid-cols-2 gap-3 lg:grid-cols-5">
      <Counter
        name="Waiting"
        value={waiting}
        note={waiting === null || due === null ? '' : laterText(waiting, due)}
        q="status:waiting"
      />
      <Counter
        name="Due now"
        value={due}
        note={oldest === 0 ? 'none waiting' : `oldest for ${showDuration(oldest ?? 0)}`}
        q="status:waiting"
      />
      <Counter
        name="Running"
        value={total('running')}
        note={overdue === null ? '' : `${showTotal(overdue)} past their lease`}
        q="status:running"
      />
      <Counter
        name="Dead"
        value={dead}
        note={dead?.count === 0 ? 'no dead letters' : `${plural(causes, 'cause')}`}
        to="/dead-letters"
        bad={dead !== null && dead.count > 0 ? 'value' : null}
      />
      <WorkerCounter />
    </ul>
  )
}

const HOUR_MS = 3_600_000

function WorkerCounter() {
  const answer = useWorkers().data
  if (answer === undefined) return <Counter name="Workers" value={null} note="" to="/workers" />
  const { fleet, workers } = answer
  const killed = workers.filter(({ state, seen_ms }) => state === 'gone' && seen_ms < HOUR_MS).length
  const count = (wanted: Worker['state']) => workers.filter(({ state }) => state === wanted).length
  const troubled = [
    [count('silent'), 'silent'],
    [count('zombie'), 'with a job past its deadline'],
    [count('late'), 'late'],
  ] as const
  const notes = [
    ...troubled,
    [killed, 'killed or lost within the hour'],
    [fleet.draining, 'draining'],
  ] as const
  const note = notes.filter(([found]) => found > 0).map(([found, word]) => `${found} ${word}`)
  return (
    <Counter
      name="Workers"
      value={{ count: fleet.workers, isAtLeast: false }}
      note={note.join(', ') || (fleet.workers === 0 ? 'none reports' : 'all live')}
      to="/workers"
      bad={
        killed === 0 && troubled.every(([found]) => found === 0)
          ? null
          : fleet.workers === 0
            ? 'value'
            : 'note'
      }
    />
  )
}

/** Shown while old workers drain and new ones start. */
function Deploy() {
  const fleet = useWorkers().data?.fleet
  if (fleet?.is_deploying !== true || fleet.text === null) return null
  const [what = '', ...rest] = fleet.text.split(': ')
  return (
    <p role="status" className={`rounded-lg px-4 py-2 ${washOf.info}`}>
      <Go to="/workers" className="font-semibold underline underline-offset-3">
        {what[0]?.toUpperCase() + what.slice(1)}
      </Go>
      : {rest.join(': ')}
    </p>
  )
}

const deadTotal = ({ groups, is_complete }: DeadLetterList): Total => ({
  count: groups.reduce((sum, { jobs }) => sum + jobs, 0),
  isAtLeast: !is_complete,
})

/** Two counts that stopped at a limit have no difference. */
function laterText(waiting: Total, due: Total): string {
  if (waiting.isAtLeast || due.isAtLeast) return 'more than are counted'
  const later = waiting.count - due.count
  return later === 0 ? 'all due' : `${showCount(later)} scheduled for later`
}

interface CounterProps {
  name: string
  value: Total | null
  note: string
  q?: string
  to?: string
  /** The red part: the number, or its note. */
  bad?: 'value' | 'note' | null
}

function Counter({ name, value, note, q, to = '/jobs', bad = null }: CounterProps) {
  return (
    <li className="max-lg:last:col-span-2">
      <Go
        to={to}
        {...(q === undefined ? {} : { values: { q } })}
        className="panel block h-full px-4 py-3 hover:border-edge"
      >
        <span className="block text-xs font-medium text-soft">{name}</span>
        <span
          className={`block text-2xl leading-9 font-semibold tracking-tight ${bad === 'value' ? 'text-bad' : ''}`}
        >
          {value === null ? '–' : showTotal(value)}
        </span>
        <span className={`block text-xs ${bad === 'note' ? 'text-bad' : 'text-soft'}`}>
          {value === null ? 'unknown' : note}
        </span>
      </Go>
    </li>
  )
}
