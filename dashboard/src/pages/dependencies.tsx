import { useState } from 'react'
import type { Breaker, Queue } from '../../../src/http/contract.ts'
import { messageOf, RequestProblem } from '../api/client.ts'
import { holdBreaker, pauseQueue, resumeBreaker, resumeQueue, useCommand } from '../api/commands.ts'
import { reconnect, useLive } from '../api/live.ts'
import { ActDialog } from '../parts/act-dialog.tsx'
import { Go } from '../parts/address.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Broken, Empty, Loading, Page, Panel } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.tsx'
import type { Tone } from '../parts/tone.ts'
import { useRefusal } from '../parts/use-refusal.ts'
import { plural, showCount, showDuration } from '../show-time.ts'

export function DependenciesPage() {
  const { breakers, queues, connection } = useLive()
  return (
    <Page
      title="Dependencies"
      lead="What jobs call. While a dependency fails its jobs wait, and no attempt is spent."
    >
      {breakers === null ? (
        connection === 'lost' ? (
          <Broken
            what="The dependencies"
            error={new RequestProblem(0, { detail: 'The server does not answer.' })}
            retry={reconnect}
          />
        ) : (
          <Loading what="dependencies" />
        )
      ) : breakers.length === 0 ? (
        <div className="panel">
          <Empty title="No dependency is known.">
            A handler that names one with <code className="font-mono text-xs">dependency</code> gets a breaker
            of its own.
          </Empty>
        </div>
      ) : (
        <ul className="grid gap-4 xl:grid-cols-2">
          {breakers.map((breaker) => (
            <li key={breaker.name}>
              <BreakerCard breaker={breaker} queues={queues ?? []} />
            </li>
          ))}
        </ul>
      )}
      {queues === null ? null : <Queues queues={queues} />}
    </Page>
  )
}

const STATES: Record<Breaker['state'], { tone: Tone; word: string }> = {
  closed: { tone: 'good', word: 'closed: calls go through' },
  open: { tone: 'bad', word: 'open: calls are held back' },
  'half-open': { tone: 'warn', word: 'half-open: trying' },
  held: { tone: 'warn', word: 'held by hand' },
}

function BreakerCard({ breaker, queues }: { breaker: Breaker; queues: Queue[] }) {
  const { tone, word } = STATES[breaker.state]
  const names = breaker.queues.map(({ queue }) => queue)
  const waiting = queues
    .filter(({ queue }) => names.includes(queue))
    .reduce((sum, queue) => sum + queue.waiting, 0)
  return (
    <section aria-label={`Dependency ${breaker.name}`} className="panel flex h-full flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{breaker.name}</h2>
        <Badge tone={tone}>{word}</Badge>
        <span className="ml-auto text-xs text-soft">
          since <Time at={breaker.since} isRelative />
        </span>
      </div>
      {breaker.banner === null ? null : (
        <p className="rounded-md bg-warn-wash px-3 py-2 font-medium text-warn">{breaker.banner}</p>
      )}
      <Calls breaker={breaker} />
      <dl className="grid grid-cols-[7.5rem_1fr] gap-y-1">
        <dt className="text-soft">Next probe</dt>
        <dd>
          {breaker.next_probe_in_ms === null
            ? 'none needed'
            : breaker.next_probe_in_ms <= 0
              ? 'with the next job'
              : `in ${showDuration(breaker.next_probe_in_ms)}`}
        </dd>
        <dt className="text-soft">Jobs behind it</dt>
        <dd>
          {names.length === 0
            ? 'no queue is bound to it'
            : `${plural(waiting, 'job')} waiting in ${names.join(', ')}`}
        </dd>
        {breaker.changed_by === null ? null : (
          <>
            <dt className="text-soft">Changed by</dt>
            <dd>
              {breaker.changed_by}
              {breaker.reason === null ? '' : `: “${breaker.reason}”`}
              {breaker.held_for_ms === null ? '' : `, for ${showDuration(breaker.held_for_ms)} more`}
            </dd>
          </>
        )}
      </dl>
      <Brake
        name={breaker.name}
        isOn={breaker.state !== 'closed'}
        hold={holdBreaker}
        resume={resumeBreaker}
        words={{
          hold: 'Hold',
          resume: 'Resume',
          effect: 'Its jobs wait until the time is over or somebody resumes it. No attempt is spent.',
        }}
        commands={['holdBreaker', 'resumeBreaker']}
      />
    </section>
  )
}

const MAX_DOTS = 20

/** The calls of the window. Their order is not kept, so failures stand first. */
function Calls({ breaker: { calls, failures } }: { breaker: Breaker }) {
  const known = Math.max(calls, failures)
  if (known === 0) return <p className="text-soft">No calls lately.</p>
  const dots = Math.min(MAX_DOTS, known)
  const bad = Math.round((failures / known) * dots)
  const percent = Math.round((failures / known) * 100)
  return (
    <div className="flex flex-wrap items-center gap-3">
      <span aria-hidden="true" className="flex gap-1">
        {Array.from({ length: dots }, (_, index) => (
          <span
            key={index}
            className={`size-2.5 ${index < bad ? 'rounded-[2px] bg-bad-bar' : 'rounded-full bg-good-bar'}`}
          />
        ))}
      </span>
      <span>
        {showCount(failures)} of the last {showCount(known)} calls failed{' '}
        <span className="text-soft">({percent} %)</span>
      </span>
    </div>
  )
}

interface BrakeProps {
  name: string
  isOn: boolean
  hold: (name: string, options: { reason?: string; duration_ms?: number }) => Promise<unknown>
  resume: (name: string, options: { reason?: string }) => Promise<unknown>
  words: { hold: string; resume: string; effect: string }
  commands: ['holdBreaker', 'resumeBreaker'] | ['pauseQueue', 'resumeQueue']
}

function Brake({ name, isOn, hold, resume, words, commands }: BrakeProps) {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal()
  const command = useCommand(({ isHold, reason }: { isHold: boolean; reason: string }) => {
    const options = reason.trim() === '' ? {} : { reason }
    return isHold ? hold(name, options) : resume(name, options)
  })
  const release = () =>
    command.mutate(
      { isHold: false, reason: '' },
      {
        onSuccess: () => say(`${name} goes on.`),
        onError: (error) => say(messageOf(error), { isBad: true }),
      },
    )
  return (
    <div className="mt-auto flex gap-2">
      {isOn ? (
        <Button
          kind="main"
          label={`${words.resume} ${name}`}
          refusal={refusal(commands[1])}
          isBusy={command.isPending}
          onClick={release}
        >
          {words.resume}
        </Button>
      ) : (
        <Button
          label={`${words.hold} ${name}`}
          refusal={refusal(commands[0])}
          onClick={() => setAsking(true)}
        >
          {words.hold}
        </Button>
      )}
      {isAsking ? (
        <ActDialog
          title={`${words.hold} ${name}`}
          verb={`${words.hold} ${name}`}
          effect={words.effect}
          close={() => setAsking(false)}
          run={async (reason) => {
            await command.mutateAsync({ isHold: true, reason })
            say(`${name} is held.`, { undo: { label: words.resume, run: release } })
          }}
        />
      ) : null}
    </div>
  )
}

function Queues({ queues }: { queues: Queue[] }) {
  if (queues.length === 0) return null
  return (
    <Panel title="Queues">
      <div className="relative overflow-x-auto" role="region" aria-label="Table of queues" tabIndex={0}>
        <table className="w-full text-left">
          <thead className="text-xs text-soft">
            <tr>
              {['Queue', 'Due', 'Waiting', 'Running', 'Dependency', ''].map((name) => (
                <th key={name} scope="col" className="py-1.5 pr-4 font-medium">
                  {name === '' ? <span className="sr-only">Act</span> : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {queues.map((queue) => (
              <tr key={`${queue.table}/${queue.queue}`} className="border-t border-line">
                <td className="py-2 pr-4">
                  <Go to="/jobs" values={{ q: `queue:${queue.queue}` }}>
                    {queue.queue}
                  </Go>{' '}
                  {queue.is_paused ? <Badge tone="warn">paused</Badge> : null}
                </td>
                <td className="pr-4">{showCount(queue.due)}</td>
                <td className="pr-4">{showCount(queue.waiting)}</td>
                <td className="pr-4">{showCount(queue.running)}</td>
                <td className="pr-4">{queue.dependency ?? '–'}</td>
                <td>
                  <Brake
                    name={queue.queue}
                    isOn={queue.is_paused}
                    hold={pauseQueue}
                    resume={resumeQueue}
                    words={{
                      hold: 'Pause',
                      resume: 'Resume',
                      effect: 'Nothing more of it is claimed. What runs goes on.',
                    }}
                    commands={['pauseQueue', 'resumeQueue']}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}
