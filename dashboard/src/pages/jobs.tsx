import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import type { Job } from '../../../src/http/contract.ts'
import { RequestProblem } from '../api/client.ts'
import { useJobs } from '../api/queries.ts'
import { BulkBar } from '../parts/bulk-bar.tsx'
import { Button } from '../parts/button.tsx'
import { JobTable } from '../parts/job-table.tsx'
import { Broken, Empty, Loading, Page } from '../parts/page.tsx'

const PAGE_SIZE = 50
const STATUSES = ['waiting', 'running', 'dead', 'succeeded', 'cancelled'] as const

export function JobsPage() {
  const [params, setParams] = useSearchParams()
  const q = params.get('q') ?? ''
  const [selected, setSelected] = useState<ReadonlyMap<string, Job>>(new Map())
  const jobs = useJobs(q, PAGE_SIZE, selected.size > 0)
  const search = (text: string) => {
    setSelected(new Map())
    setParams((before) => {
      const after = new URLSearchParams(before)
      if (text.trim() === '') after.delete('q')
      else after.set('q', text.trim())
      return after
    })
  }
  const rows = jobs.data?.pages.flatMap((page) => page.jobs) ?? []
  return (
    <Page title="Jobs">
      <Search key={q} q={q} search={search} problem={jobs.error} />
      <div className="panel min-w-0">
        <BulkBar selected={[...selected.values()]} clear={() => setSelected(new Map())} />
        {jobs.data === undefined ? (
          <div className="p-4">
            {jobs.error === null ? (
              <Loading what="jobs" />
            ) : (
              <Broken what="The jobs" error={jobs.error} retry={() => void jobs.refetch()} />
            )}
          </div>
        ) : rows.length === 0 ? (
          <Empty title={q === '' ? 'There are no jobs yet.' : 'No job fits this search.'}>
            {q === '' ? null : <Button onClick={() => search('')}>Show all jobs</Button>}
          </Empty>
        ) : (
          <JobTable jobs={rows} selected={selected} select={setSelected} />
        )}
        {jobs.hasNextPage ? (
          <div className="border-t border-line p-3 text-center">
            <Button isBusy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
              More jobs
            </Button>
          </div>
        ) : null}
      </div>
    </Page>
  )
}

interface SearchProps {
  q: string
  search: (text: string) => void
  problem: Error | null
}

function Search({ q, search, problem }: SearchProps) {
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  const refused =
    problem instanceof RequestProblem && problem.status >= 400 && problem.status < 500 ? problem : null
  const token = refused?.problem.token
  return (
    <form
      role="search"
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        search(text)
      }}
    >
      <div className="flex gap-2">
        <input
          data-search
          type="search"
          aria-label="Search jobs"
          aria-invalid={refused !== null}
          aria-describedby="search-problem"
          placeholder="type:run_tsa status:dead error:GW_5XX"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="min-h-9 min-w-0 grow rounded-md border border-edge bg-panel px-3 font-mono text-sm placeholder:text-soft"
        />
        <Button type="submit" kind="main">
          Search
        </Button>
      </div>
      <p id="search-problem" role={refused === null ? undefined : 'alert'} className="text-xs text-soft">
        {refused === null ? (
          'Keys: type, status, queue, stage, owner, worker, error, cause, lease:<0, older:2h, younger:10m'
        ) : (
          <span className="text-bad">
            {refused.message}
            {token === undefined ? null : (
              <>
                {' '}
                at character {token.position + 1}: <code className="font-mono">{token.text}</code>
              </>
            )}
          </span>
        )}
      </p>
      <StatusChips q={q} search={search} />
    </form>
  )
}

function StatusChips({ q, search }: Pick<SearchProps, 'q' | 'search'>) {
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">Status</legend>
      {STATUSES.map((status) => {
        const word = `status:${status}`
        const isOn = q.split(/\s+/).includes(word)
        const rest = q
          .replace(/\bstatus:\S+/g, '')
          .replace(/\s+/g, ' ')
          .trim()
        return (
          <button
            key={status}
            type="button"
            aria-pressed={isOn}
            className={`min-h-7 rounded-full border px-3 text-xs font-medium ${isOn ? 'border-transparent bg-accent-fill text-white' : 'border-edge/60 bg-panel text-soft hover:text-ink'}`}
            onClick={() => search(isOn ? rest : `${word} ${rest}`)}
          >
            {status}
          </button>
        )
      })}
    </fieldset>
  )
}
