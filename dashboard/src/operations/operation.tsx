import type { Operation } from '../../../src/http/contract/index.ts'
import { RequestProblem } from '../api/client.ts'
import { useOperation, useOperationJobs } from '../api/queries.ts'
import { plural } from '../format/show-time.ts'
import { Go } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Empty, Page, Panel, Read } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import type { Tone } from '../ui/tone.ts'
import { countsOf, ProgressBar, StopOperation } from './operation-progress.tsx'
import { actionWords } from './operation-words.ts'

export function OperationPage({ id }: { id: string }) {
  const answer = useOperation(id)
  if (answer.data === undefined && answer.error instanceof RequestProblem && answer.error.isMissing)
    return (
      <Page title="Operation">
        <div className="panel">
          <Empty title="This operation does not exist.">
            Operations are deleted a week after they end. <Go to="/operations">All operations</Go>
          </Empty>
        </div>
      </Page>
    )
  if (answer.data === undefined)
    return (
      <Page title="Operation">
        <Read what="The operation" from={answer}>
          {() => null}
        </Read>
      </Page>
    )
  return <KnownOperation operation={answer.data.operation} />
}

function KnownOperation({ operation }: { operation: Operation }) {
  const { id, action, total, q, table, actor, reason, state } = operation
  return (
    <Page
      title={`${actionWords[action].verb} ${plural(total, 'job')}`}
      lead={<Go to="/operations">All operations</Go>}
      actions={<StopOperation operation={operation} />}
    >
      <Panel
        title={state === 'running' ? 'Running' : `${state.charAt(0).toUpperCase()}${state.slice(1)}`}
        aside={`table ${table}`}
      >
        <div className="flex flex-col gap-3">
          <ProgressBar operation={operation} />
          <p role="status">{countsOf(operation)}</p>
          <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-y-1">
            <dt className="text-soft">Jobs</dt>
            <dd>
              <Go to="/jobs" values={{ q, table }} className="link font-mono text-xs">
                {q}
              </Go>
            </dd>
            <dt className="text-soft">By</dt>
            <dd>
              {actor}
              {reason === null ? '' : `: “${reason}”`}
            </dd>
            <dt className="text-soft">Selected at</dt>
            <dd>
              <Time at={operation.as_of} />
            </dd>
            <dt className="text-soft">Ended</dt>
            <dd>{operation.ended_at === null ? 'still running' : <Time at={operation.ended_at} />}</dd>
          </dl>
        </div>
      </Panel>
      <Outcomes id={id} isRunning={state === 'running'} table={table} />
    </Page>
  )
}

type OperationJob = { outcome: string | null; status: string }

const RETRIED = ['retried', 'due']
const TONES: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  dead: 'bad',
  running: 'info',
  waiting: 'quiet',
  cancelled: 'quiet',
  discarded: 'quiet',
  deleted: 'quiet',
}

/** A job that runs again is shown by its status now, any other by what the operation did to it. */
function fateOf({ outcome, status }: OperationJob, isRunning: boolean): string {
  if (outcome === null) return isRunning ? 'pending' : 'unchanged'
  if (!RETRIED.includes(outcome)) return outcome.replaceAll('-', ' ')
  return status === 'dead' ? 'dead again' : status
}

const toneOf = (job: OperationJob): Tone =>
  job.outcome === null
    ? 'quiet'
    : RETRIED.includes(job.outcome)
      ? (TONES[job.status] ?? 'quiet')
      : (TONES[job.outcome] ?? (job.outcome === 'cancel-requested' ? 'quiet' : 'warn'))

function Outcomes({ id, isRunning, table }: { id: string; isRunning: boolean; table: string }) {
  // Its jobs run on after it has ended.
  const answer = useOperationJobs(id, isRunning ? 2_000 : 5_000)
  return (
    <Panel title="Outcomes" aside="oldest job first">
      <Read what="The outcomes" from={answer}>
        {({ pages }) => (
          <ol className="grid gap-x-8 gap-y-1 sm:grid-cols-2 xl:grid-cols-3">
            {pages
              .flatMap(({ jobs }) => jobs)
              .map(({ job_id, position, ...job }) => (
                <li key={job_id} className="flex min-h-7 items-center gap-2">
                  <span className="w-10 text-right text-xs text-soft">{position}</span>
                  <JobId id={job_id} table={table} />
                  <Badge tone={toneOf(job)}>{fateOf(job, isRunning)}</Badge>
                </li>
              ))}
          </ol>
        )}
      </Read>
      {answer.hasNextPage ? (
        <div className="mt-3 text-center">
          <Button isBusy={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
            More jobs
          </Button>
        </div>
      ) : null}
    </Panel>
  )
}
