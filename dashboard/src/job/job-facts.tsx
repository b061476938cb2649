import type { ReactNode } from 'react'
import type { Job } from '../../../src/http/contract/index.ts'
import { showDuration } from '../format/show-time.ts'
import { failureOf } from '../jobs/job-columns.ts'
import { Go } from '../shell/address.tsx'
import { Panel } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { JobProgressBar } from './progress-bar.tsx'

export function JobFacts({ job }: { job: Job }) {
  const failure = failureOf(job)
  return (
    <Panel title="Details">
      <dl className="grid grid-cols-[7.5rem_1fr] gap-y-1.5">
        <Fact name="Queue">
          <Go to="/jobs" values={{ q: `queue:${job.queue}` }}>
            {job.queue}
          </Go>
        </Fact>
        <Fact name="Group">{job.group}</Fact>
        <Fact name="Stage">{job.stage}</Fact>
        <Fact name="Progress">
          {job.progress === null ? null : (
            <JobProgressBar progress={job.progress} isRunning={job.status === 'running'} />
          )}
        </Fact>
        <Fact name="Owner">
          {job.owner === null ? null : (
            <Go to="/jobs" values={{ q: `owner:${job.owner}` }}>
              {job.owner}
            </Go>
          )}
        </Fact>
        <Fact name="Error">
          {failure?.code == null ? null : <code className="font-mono text-xs">{failure.code}</code>}
        </Fact>
        <Fact name="Reason">{failure?.reason}</Fact>
        <Fact name="Created">
          <Time at={job.created_at} />
        </Fact>
        {job.status === 'waiting' && job.run_at !== null ? (
          <Fact name="Due">
            <Time at={job.run_at} />
          </Fact>
        ) : null}
        {job.expires_at === null ? null : (
          <Fact name="Expires">
            <Time at={job.expires_at} />
          </Fact>
        )}
        {job.finished_at === null ? null : (
          <Fact name="Ended">
            <Time at={job.finished_at} />
          </Fact>
        )}
        <Fact name="Expected">
          {job.expected_duration_ms === null ? null : showDuration(job.expected_duration_ms)}
        </Fact>
        <Fact name="Priority">{job.priority}</Fact>
        <Fact name="Failures">{job.failures}</Fact>
        <Fact name="Crashes">{job.crashes}</Fact>
        <Fact name="Timeouts">{job.timeouts}</Fact>
        <Fact name="Generation">{job.generation}</Fact>
        <Fact name="Dedupe key">{job.dedupe_key}</Fact>
        {job.cause_id == null ? null : (
          <Fact name="Same cause">
            <Go to="/jobs" values={{ q: `status:dead cause:${job.cause_id}` }}>
              dead jobs
            </Go>
          </Fact>
        )}
      </dl>
    </Panel>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined) return null
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  )
}
