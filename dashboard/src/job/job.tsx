import { useState } from 'react'
import type { Job, JobAnswer, WhyAnswer } from '../../../src/http/contract/index.ts'
import { RequestProblem } from '../api/client.ts'
import { databaseNowMs } from '../api/database-clock.ts'
import { useAttempts, useEvents, useJob, useWhy } from '../api/queries.ts'
import { shortId } from '../format/show-time.ts'
import { Go } from '../shell/address.tsx'
import { StatusBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/copy-line.tsx'
import { Empty, Page, Panel, Read } from '../ui/page.tsx'
import { AttemptList, EventList, UNRECORDED } from './attempt-list.tsx'
import { JobActions } from './job-actions.tsx'
import { JobFacts } from './job-facts.tsx'
import { LeaseCard } from './lease-card.tsx'
import { timelineOf } from './timeline.ts'
import { TimelineChart } from './timeline-chart.tsx'
import { WhyPanel } from './why-panel.tsx'

export function JobPage({ id }: { id: string }) {
  const answer = useJob(id)
  if (answer.data === undefined && answer.error instanceof RequestProblem && answer.error.isMissing)
    return (
      <Page title={`Job ${id}`}>
        <div className="panel">
          <Empty title="This job does not exist.">
            It may have been deleted after its retention, or belong to another owner.{' '}
            <Go to="/jobs">All jobs</Go>
          </Empty>
        </div>
      </Page>
    )
  if (answer.data === undefined || answer.data.job.id !== id)
    return (
      <Page title={`Job ${shortId(id)}`}>
        <Read what="The job" from={answer}>
          {() => null}
        </Read>
      </Page>
    )
  return <KnownJob answer={answer.data} />
}

function KnownJob({ answer }: { answer: JobAnswer }) {
  const { job } = answer
  const why = useWhy(job.id)
  const lead = (
    <span className="flex flex-wrap items-center gap-2">
      <StatusBadge status={job.status} />
      <code className="max-w-full truncate font-mono text-xs" title={job.id}>
        {job.id}
      </code>
      <Button kind="ghost" label="Copy the id" onClick={() => void copyText(job.id)}>
        Copy
      </Button>
    </span>
  )
  return (
    <Page
      title={job.type}
      tabTitle={`${job.type} ${shortId(job.id)}`}
      lead={lead}
      actions={<JobActions answer={answer} />}
    >
      <Read what="The reason" from={why}>
        {(data) => <WhyPanel why={data} />}
      </Read>
      {job.status === 'running' ? <LeaseCard job={job} /> : null}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[minmax(0,1fr)_21rem]">
        <History job={job} why={why.data} />
        <div className="flex flex-col gap-4">
          <JobFacts job={job} />
          <Payload job={job} />
        </div>
      </div>
    </Page>
  )
}

function History({ job, why }: { job: Job; why: WhyAnswer | undefined }) {
  const attempts = useAttempts(job.id)
  const events = useEvents(job.id)
  const list = attempts.data?.attempts ?? []
  const timeline = timelineOf(
    job,
    list,
    events.data?.events ?? [],
    databaseNowMs() ?? Date.parse(job.created_at),
  )
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Panel
        title="Attempts"
        aside={why === undefined ? `attempt ${job.attempt}` : `attempt ${why.attempt} of ${why.max_attempts}`}
      >
        <Read what="The attempts" from={attempts}>
          {() =>
            list.length === 0 ? (
              <Empty title={job.attempt === 0 ? 'Not started yet.' : 'Attempts are not recorded.'}>
                {job.attempt === 0 ? undefined : UNRECORDED}
              </Empty>
            ) : (
              <div className="flex flex-col gap-5">
                {timeline === null ? null : <TimelineChart timeline={timeline} />}
                <AttemptList attempts={list} />
              </div>
            )
          }
        </Read>
      </Panel>
      <Panel title="Events">
        <Read what="The events" from={events}>
          {(data) => <EventList events={data.events} job={job} />}
        </Read>
      </Panel>
    </div>
  )
}

const SHOWN_CHARACTERS = 65_536

function Payload({ job }: { job: Job }) {
  const [isWhole, setWhole] = useState(false)
  if (job.payload === undefined)
    return (
      <Panel title="Payload">
        <p className="text-soft">Payloads need the scope jobs:payload.</p>
      </Panel>
    )
  const text = JSON.stringify(job.payload, null, 2) ?? 'null'
  const isLong = text.length > SHOWN_CHARACTERS && !isWhole
  return (
    <Panel title="Payload" aside="secrets are redacted">
      <pre
        tabIndex={0}
        role="region"
        aria-label="Payload as JSON"
        className="max-h-96 overflow-auto font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap"
      >
        {isLong ? text.slice(0, SHOWN_CHARACTERS) : text}
      </pre>
      {isLong ? (
        <Button onClick={() => setWhole(true)}>Show all {Math.ceil(text.length / 1024)} KB</Button>
      ) : null}
    </Panel>
  )
}
