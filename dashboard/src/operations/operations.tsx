import { useRecentOperations } from '../api/queries.ts'
import { plural } from '../format/show-time.ts'
import { Empty, Page, Panel, Read } from '../ui/page.tsx'
import { useRefusal } from '../ui/use-refusal.ts'
import { OperationLine } from './operation-progress.tsx'

export function OperationsPage() {
  const refused = useRefusal()('listOperations')
  const operations = useRecentOperations(refused === null)
  return (
    <Page
      title="Operations"
      lead="Bulk changes. The server runs them in the background; you can close this page."
    >
      {refused === null ? (
        <Read what="The operations" from={operations}>
          {({ operations: found }) =>
            found.length === 0 ? (
              <div className="panel">
                <Empty title="No operations yet.">
                  Redrives and bulk changes are listed here for seven days.
                </Empty>
              </div>
            ) : (
              <Panel title={plural(found.length, 'operation')} aside="newest first">
                <ul className="-my-3 flex flex-col divide-y divide-line">
                  {found.map((operation) => (
                    <OperationLine key={operation.id} operation={operation} />
                  ))}
                </ul>
              </Panel>
            )
          }
        </Read>
      ) : (
        <div className="panel">
          <Empty title="Operations are not shown.">{refused}</Empty>
        </div>
      )}
    </Page>
  )
}
