import { useState } from 'react'
import type { DeadLetterGroup } from '../../../src/http/contract/index.ts'
import { useDeadLetters, useRecentOperations } from '../api/queries.ts'
import { plural, showCount } from '../format/show-time.ts'
import { OperationLine } from '../operations/operation-progress.tsx'
import { Go, useParam } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Empty, Page, Panel, Read } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { washOf } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { CauseBadge, CauseChoice, CauseNote } from './cause-state.tsx'
import { type CauseView, causeViews, isInView, viewOf } from './cause-views.ts'
import { RedriveDrawer } from './redrive-drawer.tsx'

export function DeadLettersPage() {
  const answer = useDeadLetters()
  const [viewText, setView] = useParam('state')
  const view = viewOf(viewText)
  const [chosen, setChosen] = useState<DeadLetterGroup | null>(null)
  const all = answer.data?.groups ?? []
  return (
    <Page
      title="Dead letters"
      lead="Dead jobs, grouped by cause."
      actions={<Views view={view} groups={all} choose={setView} />}
    >
      <Redrives />
      <Read what="The dead letters" from={answer}>
        {({ groups, is_complete }) => (
          <>
            {is_complete ? null : (
              <p role="status" className={`rounded-lg px-4 py-2 ${washOf.warn}`}>
                More jobs are dead: only the newest 10,000 of each table are counted here.
              </p>
            )}
            <Inbox
              groups={groups.filter((group) => isInView(group, view))}
              hasOthers={groups.length > 0}
              choose={setChosen}
            />
          </>
        )}
      </Read>
      {chosen === null ? null : <RedriveDrawer group={chosen} close={() => setChosen(null)} />}
    </Page>
  )
}

interface ViewsProps {
  view: CauseView
  groups: DeadLetterGroup[]
  choose: (view: string | null) => void
}

function Views({ view, groups, choose }: ViewsProps) {
  return (
    <fieldset className="flex flex-wrap rounded-md border border-line bg-panel p-0.5">
      <legend className="sr-only">State</legend>
      {causeViews.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === view}
          className={`min-h-7 rounded px-2.5 text-xs ${one === view ? 'bg-raised font-medium text-ink' : 'text-soft'}`}
          onClick={() => choose(one === 'open' ? null : one)}
        >
          {one} {groups.filter((group) => isInView(group, one)).length}
        </button>
      ))}
    </fieldset>
  )
}

interface InboxProps {
  groups: DeadLetterGroup[]
  hasOthers: boolean
  choose: (group: DeadLetterGroup) => void
}

function Inbox({ groups, hasOthers, choose }: InboxProps) {
  if (groups.length === 0)
    return (
      <div className="panel">
        {hasOthers ? (
          <Empty title="No cause in this state.">Other states have causes: see the counts above.</Empty>
        ) : (
          <Empty title="No dead letters.">All finished jobs succeeded or were cancelled.</Empty>
        )}
      </div>
    )
  return (
    <>
      <Causes
        title="Failed jobs"
        groups={groups.filter(({ max_crashes }) => max_crashes === 0)}
        choose={choose}
      />
      <Causes
        title="Jobs that lost workers"
        note="A job that lost several workers probably killed them."
        groups={groups.filter(({ max_crashes }) => max_crashes > 0)}
        choose={choose}
      />
    </>
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
  const name = group.code ?? 'no error code'
  return (
    <li className="grid items-center gap-x-4 gap-y-1 py-3 md:grid-cols-[5rem_minmax(0,1fr)_auto]">
      <Go
        to="/jobs"
        values={{ q: `status:dead cause:${group.cause_id}`, table: group.table }}
        label={`${plural(group.jobs, 'job')} dead of ${name}`}
        className="text-2xl font-semibold tracking-tight hover:text-accent"
      >
        {showCount(group.jobs)}
      </Go>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <code className="font-mono font-semibold">{name}</code>
          <CauseBadge group={group} />
          {group.category === null ? null : (
            <Badge tone={group.category === 'TRANSIENT' ? 'info' : 'warn'}>
              {group.category.toLowerCase()}
            </Badge>
          )}
          {group.max_crashes > 0 ? (
            <Badge tone="bad">lost {plural(group.max_crashes, 'worker')}</Badge>
          ) : null}
        </p>
        <p className="truncate">{group.example_reason ?? 'No reason recorded.'}</p>
        <p className="text-xs text-soft">
          first <Time at={group.first_at} />, last <Time at={group.last_at} />, such as{' '}
          <JobId id={group.example_job_id} />
          <CauseNote group={group} />
        </p>
      </div>
      <div className="flex gap-2">
        <CauseChoice group={group} />
        <Button label={`Redrive ${name}`} refusal={refusal('redrive')} onClick={() => choose(group)}>
          Redrive…
        </Button>
      </div>
    </li>
  )
}

const SHOWN = 3

function Redrives() {
  const isAllowed = useRefusal()('listOperations') === null
  const operations = useRecentOperations(isAllowed)
  const shown = operations.data?.operations.filter(({ action }) => action === 'redrive').slice(0, SHOWN) ?? []
  if (shown.length === 0) return null
  return (
    <Panel title="Redrives" aside={<Go to="/operations">All operations</Go>}>
      <ul className="-my-3 flex flex-col divide-y divide-line">
        {shown.map((operation) => (
          <OperationLine key={operation.id} operation={operation} />
        ))}
      </ul>
    </Panel>
  )
}
