import { useState } from 'react'
import type { DeadLetterGroup, Operation } from '../../../src/http/contract.ts'
import { abortOperation, useCommand } from '../api/commands.ts'
import { useDeadLetters, useOperations } from '../api/queries.ts'
import { Go, jobPath } from '../parts/address.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty, Page, Panel, Read } from '../parts/page.tsx'
import { RedriveDrawer } from '../parts/redrive-drawer.tsx'
import { Time } from '../parts/time.tsx'
import { useRefusal } from '../parts/use-refusal.ts'
import { plural, shortId, showCount } from '../show-time.ts'

export function DeadLettersPage() {
  const answer = useDeadLetters()
  const [chosen, setChosen] = useState<DeadLetterGroup | null>(null)
  return (
    <Page title="Dead letters" lead="Dead jobs by cause: what failed in the same way stands together.">
      <Operations />
      <Read what="The dead letters" from={answer}>
        {({ groups }) =>
          groups.length === 0 ? (
            <div className="panel">
              <Empty title="No dead letters.">Every job that ended has succeeded or was cancelled.</Empty>
            </div>
          ) : (
            <>
              <Causes
                title="Jobs that failed"
                groups={groups.filter(({ max_crashes }) => max_crashes === 0)}
                choose={setChosen}
              />
              <Causes
                title="Jobs that lost their worker"
                note="A job that loses worker after worker is more likely the reason than they are."
                groups={groups.filter(({ max_crashes }) => max_crashes > 0)}
                choose={setChosen}
              />
            </>
          )
        }
      </Read>
      {chosen === null ? null : <RedriveDrawer group={chosen} close={() => setChosen(null)} />}
    </Page>
  )
}

interface CausesProps {
  title: string
  note?: string
  groups: DeadLetterGroup[]
  choose: (group: DeadLetterGroup) => void
}

function Causes({ title, note, groups, choose }: CausesProps) {
  if (groups.length === 0) return null
  const jobs = groups.reduce((sum, group) => sum + group.jobs, 0)
  return (
    <Panel title={title} aside={`${plural(jobs, 'job')} of ${plural(groups.length, 'cause')}`}>
      {note === undefined ? null : <p className="mb-2 text-soft">{note}</p>}
      <ul className="-my-3 flex flex-col divide-y divide-line">
        {groups.map((group) => (
          <Cause key={`${group.table}/${group.cause_id}`} group={group} choose={choose} />
        ))}
      </ul>
    </Panel>
  )
}

function Cause({ group, choose }: { group: DeadLetterGroup; choose: (group: DeadLetterGroup) => void }) {
  const refusal = useRefusal()
  const name = group.code ?? 'without a code'
  return (
    <li className="grid items-center gap-x-4 gap-y-1 py-3 md:grid-cols-[5rem_minmax(0,1fr)_auto]">
      <Go
        to="/jobs"
        values={{ q: `status:dead cause:${group.cause_id}` }}
        label={`${plural(group.jobs, 'job')} dead of ${name}`}
        className="text-2xl font-semibold tracking-tight hover:text-accent"
      >
        {showCount(group.jobs)}
      </Go>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <code className="font-mono font-semibold">{name}</code>
          {group.category === null ? null : (
            <Badge tone={group.category === 'TRANSIENT' ? 'info' : 'warn'}>
              {group.category.toLowerCase()}
            </Badge>
          )}
          {group.max_crashes > 0 ? (
            <Badge tone="bad">lost {plural(group.max_crashes, 'worker')}</Badge>
          ) : null}
        </p>
        <p className="truncate">{group.example_reason ?? 'No reason was given.'}</p>
        <p className="text-xs text-soft">
          first <Time at={group.first_at} />, last <Time at={group.last_at} />, such as{' '}
          <Go to={jobPath(group.example_job_id)} className="link font-mono">
            {shortId(group.example_job_id)}
          </Go>
        </p>
      </div>
      <Button label={`Redrive ${name}`} refusal={refusal('redrive')} onClick={() => choose(group)}>
        Redrive…
      </Button>
    </li>
  )
}

function Operations() {
  const refusal = useRefusal()
  const operations = useOperations(refusal('listOperations') === null)
  const abort = useCommand(abortOperation)
  const shown = operations.data?.operations.slice(0, 5) ?? []
  if (shown.length === 0) return null
  return (
    <Panel title="Redrives">
      <ul className="flex flex-col gap-3">
        {shown.map((operation) => (
          <li key={operation.id} className="grid items-center gap-x-4 gap-y-1 md:grid-cols-[1fr_auto]">
            <Progress operation={operation} />
            {operation.state === 'running' ? (
              <Button
                kind="danger"
                refusal={refusal('abortOperation')}
                onClick={() => abort.mutate(operation.id)}
              >
                Stop
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Progress({ operation }: { operation: Operation }) {
  const { state, total, redriven, refused, succeeded, failed, stopped, actor, phase } = operation
  const tone =
    state === 'done' ? 'good' : state === 'running' ? 'info' : state === 'planned' ? 'quiet' : 'warn'
  return (
    <div className="flex flex-col gap-1">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{stopped === null ? state : `${state}: ${stopped}`}</Badge>
        {phase === 'canary' ? <span>canary first</span> : null}
        <span className="text-soft">
          by {actor}
          {operation.reason === null ? '' : `: “${operation.reason}”`},{' '}
          <Time at={operation.began_at} isRelative />
        </span>
      </p>
      <progress
        className="h-2 w-full accent-accent-fill"
        max={Math.max(1, total)}
        value={redriven}
        aria-label="Brought back"
      />
      <p className="text-xs text-soft">
        {showCount(redriven)} of {showCount(total)} brought back, {showCount(succeeded)} succeeded,{' '}
        {showCount(failed)} failed again
        {refused === 0 ? '' : `, ${showCount(refused)} refused`}
      </p>
    </div>
  )
}
