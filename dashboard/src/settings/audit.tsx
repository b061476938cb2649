import type { AuditEntry } from '../../../src/http/contract/index.ts'
import { useAudit } from '../api/queries.ts'
import { shortId } from '../format/show-time.ts'
import { operationPath } from '../operations/operation-progress.tsx'
import { Go, useParam } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Empty, Page, Panel, Read } from '../ui/page.tsx'
import { CardCell, CardRow, CardTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

export function AuditPage() {
  const [actor, setActor] = useParam('actor')
  const answer = useAudit(actor)
  return (
    <Page title="Audit log" lead="Manual changes from the dashboard, the API and the command line.">
      <SettingsTabs />
      <Read what="The audit log" from={answer}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries)
          return (
            <Panel
              title={actor === null ? 'All entries' : `Entries of ${actor}`}
              aside={
                actor === null ? (
                  'newest first'
                ) : (
                  <Button kind="ghost" onClick={() => setActor(null)}>
                    Show all
                  </Button>
                )
              }
            >
              {entries.length === 0 ? (
                <Empty title="No entries yet.">
                  Retries, cancellations, pauses and holds appear here with their reason.
                </Empty>
              ) : (
                <CardTable name="audit entries" columns={['When', 'Actor', 'Action', 'Target', 'Reason']}>
                  {entries.map((entry) => (
                    <Row key={entry.id} entry={entry} choose={setActor} />
                  ))}
                </CardTable>
              )}
              {answer.hasNextPage ? (
                <div className="mt-3 text-center">
                  <Button isBusy={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
                    Older entries
                  </Button>
                </div>
              ) : null}
            </Panel>
          )
        }}
      </Read>
    </Page>
  )
}

function Row({ entry, choose }: { entry: AuditEntry; choose: (actor: string) => void }) {
  const { at, actor, type, table, job_id, subject, reason } = entry
  return (
    <CardRow>
      <CardCell label="When" className="py-1.5 pr-4">
        <Time at={at} />
      </CardCell>
      <CardCell label="Actor" className="pr-4">
        <button type="button" className="link min-h-6" onClick={() => choose(actor)}>
          {actor}
        </button>
      </CardCell>
      <CardCell className="pr-4 whitespace-nowrap">
        <Badge tone="quiet">{type.replaceAll('-', ' ')}</Badge>
      </CardCell>
      <CardCell className="pr-4 whitespace-nowrap">
        {job_id === null && subject !== null && type.startsWith('operation-') ? (
          <Go to={operationPath(subject)} className="link font-mono text-xs whitespace-nowrap">
            {shortId(subject)}
          </Go>
        ) : job_id === null ? (
          (subject ?? table ?? '–')
        ) : (
          <JobId id={job_id} table={table} />
        )}
      </CardCell>
      <CardCell className="min-w-40 py-1.5 text-soft">{reason ?? '–'}</CardCell>
    </CardRow>
  )
}
