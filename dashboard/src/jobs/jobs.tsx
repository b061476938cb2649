import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { Job } from '../../../src/http/contract/index.ts'
import { useConfig, useJobs, useMe } from '../api/queries.ts'
import { plural } from '../format/show-time.ts'
import { useParam, useTable } from '../shell/address.tsx'
import { Button } from '../ui/button.tsx'
import { Broken, Empty, Loading, Page } from '../ui/page.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { ColumnDialog } from './column-dialog.tsx'
import { ExportDialog } from './export-dialog.tsx'
import { columnsOf, columnsText, isPayloadKey } from './job-columns.ts'
import { JobSearch } from './job-search.tsx'
import { JobTable } from './job-table.tsx'
import { SearchProgress, useDeepSearch } from './search-progress.tsx'
import { useJobRows } from './use-job-rows.ts'

const PAGE_SIZE = 50

export function JobsPage() {
  const [table] = useTable()
  const [columnText, setColumnText] = useParam('cols')
  const columns = columnsOf(columnText)
  const withPayload = useMaySeePayloads() && columns.some(({ key }) => isPayloadKey(key))
  const [selected, setSelected] = useState<ReadonlyMap<string, Job>>(new Map())
  const clear = () => setSelected(new Map())
  const [q, search] = useSearch(clear)
  const [dialog, setDialog] = useState<'columns' | 'export' | null>(null)
  const isFrozen = selected.size > 0
  const hasTables = (useConfig().data?.tables.length ?? 0) > 1
  const jobs = useJobs({ q, limit: PAGE_SIZE, withPayload }, isFrozen)
  const progress = useDeepSearch(jobs, q)
  // Rows kept from another search until this one answers are not its list.
  const pages = jobs.isPlaceholderData ? undefined : jobs.data?.pages
  const key = JSON.stringify([q, table, withPayload])
  const { rows, arrived, showAll } = useJobRows({ key, pages, hasMore: jobs.hasNextPage, isFrozen })
  // By default the server answers with its first table.
  const listed = pages?.[0]?.table ?? table
  const isKnown = pages !== undefined || rows.length > 0
  return (
    <Page
      title="Jobs"
      {...(hasTables && listed !== null ? { lead: `Table ${listed}.` } : {})}
      actions={
        <>
          <Button onClick={() => setDialog('columns')}>Columns</Button>
          <Button onClick={() => setDialog('export')}>Export</Button>
        </>
      }
    >
      <JobSearch key={q} q={q} search={search} problem={jobs.error} />
      <div className="panel min-w-0">
        <BulkBar selected={[...selected.values()]} q={q} table={listed} clear={clear} />
        <Arrived count={isFrozen ? 0 : arrived} show={showAll} />
        {isKnown && rows.length + arrived > 0 ? (
          <JobTable jobs={rows} columns={columns} selected={selected} select={setSelected} />
        ) : (
          <NoRows
            {...{ isKnown, q, search, jobs }}
            isSearching={progress.isSearching}
            hasMore={jobs.hasNextPage}
          />
        )}
        <SearchProgress {...progress} searchedTo={pages?.at(-1)?.searched_to ?? null} found={rows.length} />
        {jobs.hasNextPage && !progress.isSearching ? <More {...{ progress, jobs, isFrozen }} /> : null}
      </div>
      {dialog === 'columns' ? (
        <ColumnDialog
          columns={columns}
          change={(keys) => setColumnText(keys.length === 0 ? null : columnsText(keys))}
          close={() => setDialog(null)}
        />
      ) : null}
      {dialog === 'export' ? (
        <ExportDialog
          {...{ q, columns }}
          table={listed}
          hasPayload={withPayload}
          close={() => setDialog(null)}
        />
      ) : null}
    </Page>
  )
}

interface MoreProps {
  progress: { isStopped: boolean; goOn: () => void }
  jobs: { isFetchingNextPage: boolean; fetchNextPage: () => unknown }
  isFrozen: boolean
}

function More({ progress, jobs, isFrozen }: MoreProps) {
  return (
    <div className="border-t border-line p-3 text-center">
      <Button
        isBusy={jobs.isFetchingNextPage}
        refusal={isFrozen ? 'Updates are paused while jobs are selected.' : null}
        onClick={() => (progress.isStopped ? progress.goOn() : void jobs.fetchNextPage())}
      >
        {progress.isStopped ? 'Search on' : 'More jobs'}
      </Button>
    </div>
  )
}

/** The search in the address. A new one adds a history entry. */
function useSearch(leave: () => void): [string, (text: string) => void] {
  const [params, setParams] = useSearchParams()
  const search = (text: string) => {
    leave()
    setParams((before) => {
      const after = new URLSearchParams(before)
      if (text.trim() === '') after.delete('q')
      else after.set('q', text.trim())
      return after
    })
  }
  return [params.get('q') ?? '', search]
}

interface NoRowsProps {
  isKnown: boolean
  q: string
  search: (text: string) => void
  jobs: { error: unknown; refetch: () => unknown }
  isSearching: boolean
  /** Older jobs were not searched. */
  hasMore: boolean
}

/** Loading, failed or empty. */
function NoRows({ isKnown, q, search, jobs, isSearching, hasMore }: NoRowsProps) {
  const noMatch = isSearching ? 'Searching…' : hasMore ? 'No match so far.' : 'No matching jobs.'
  if (isKnown)
    return (
      <Empty title={q === '' ? 'No jobs yet.' : noMatch}>
        {q === '' ? null : <Button onClick={() => search('')}>Show all jobs</Button>}
      </Empty>
    )
  return (
    <div className="p-4">
      {jobs.error === null ? (
        <Loading what="jobs" />
      ) : (
        <Broken what="The jobs" error={jobs.error} retry={() => void jobs.refetch()} />
      )}
    </div>
  )
}

function useMaySeePayloads(): boolean {
  const scopes = useMe().data?.scopes ?? []
  return scopes.includes('jobs:payload') || scopes.includes('*')
}

function Arrived({ count, show }: { count: number; show: () => void }) {
  return (
    <div role="status">
      {count === 0 ? null : (
        <button
          type="button"
          className="min-h-9 w-full border-b border-line bg-info-wash text-center font-medium text-info hover:underline"
          onClick={show}
        >
          Show {plural(count, 'new job')}
        </button>
      )}
    </div>
  )
}
