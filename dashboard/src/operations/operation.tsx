import type { Operation } from '../../../src/http/contract/index.ts'
import { RequestProblem } from '../api/client.ts'
import { useOperation, useOperationJobs } from '../api/queries.ts'
import { plural, shortId } from '../format/show-time.ts'
import { Go, jobPath } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
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

const GOOD = ['retried', 'due', 'cancelled', 'discarded', 'cancel-requested', 'redriven', 'requeued']

const toneOf = (outcome: string | null): Tone =>
  outcome === null ? 'quiet' : GOOD.includes(outcome) ? 'good' : 'warn'

function Outcomes({ id, isRunning, table }: { id: string; isRunning: boolean; table: string }) {
  const answer = useOperationJobs(id, isRunning ? 2_000 : undefined)
  return (
    <Panel title="Outcomes" aside="oldest job first">
      <Read what="The outcomes" from={answer}>
        {({ pages }) => (
          <ol className="grid gap-x-8 gap-y-1 sm:grid-cols-2 xl:grid-cols-3">
            {pages
              .flatMap(({ jobs }) => jobs)
              .map(({ job_id, position, outcome }) => (
                <li key={job_id} className="flex min-h-7 items-center gap-2">
                  <span className="w-10 text-right text-xs text-soft">{position}</span>
                  <Go to={jobPath(job_id)} values={{ table }} className="link font-mono text-xs">
                    {shortId(job_id)}
                  </Go>
                  <Badge tone={toneOf(outcome)}>
                    {outcome?.replaceAll('-', ' ') ?? (isRunning ? 'pending' : 'unchanged')}
                  </Badge>
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
