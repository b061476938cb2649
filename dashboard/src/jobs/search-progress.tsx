// A search goes on by itself until a page is full, all jobs were searched, or it is stopped. Each request is short.
import { useEffect, useState } from 'react'
import { MAX_LIVE_PAGES } from '../api/queries.ts'
import { showCount } from '../format/show-time.ts'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'

/** Matches after which a search waits for the next click. */
const ENOUGH = 50

interface Pages {
  data: { pages: { jobs: unknown[] }[] } | undefined
  error: Error | null
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isPlaceholderData: boolean
  fetchNextPage: () => Promise<unknown>
  refetch: () => Promise<unknown>
}

interface Progress {
  isSearching: boolean
  isStopped: boolean
  /** The list no longer updates itself. */
  isStill: boolean
  stop: () => void
  goOn: () => void
  refresh: () => void
}

export function useDeepSearch(jobs: Pages, q: string): Progress {
  const [stopped, setStopped] = useState<{ q: string } | null>(null)
  const isStopped = stopped?.q === q
  const pages = jobs.data?.pages ?? []
  const found = pages.reduce((sum, page) => sum + page.jobs.length, 0)
  const isSearching =
    q !== '' &&
    !isStopped &&
    jobs.error === null &&
    !jobs.isPlaceholderData &&
    jobs.hasNextPage &&
    found < ENOUGH
  const { fetchNextPage, isFetchingNextPage } = jobs
  useEffect(() => {
    if (isSearching && !isFetchingNextPage) void fetchNextPage()
  }, [isSearching, isFetchingNextPage, fetchNextPage])
  return {
    isSearching,
    isStopped: isStopped && jobs.hasNextPage,
    isStill: pages.length > MAX_LIVE_PAGES,
    stop: () => setStopped({ q }),
    goOn: () => setStopped(null),
    refresh: () => void jobs.refetch(),
  }
}

interface SearchProgressProps extends Progress {
  /** Creation time of the oldest job that was searched; null if all were. */
  searchedTo: string | null
  found: number
}

export function SearchProgress(props: SearchProgressProps) {
  const { isSearching, isStopped, isStill, searchedTo, found, stop, refresh } = props
  if (!isSearching && !isStopped && !isStill) return null
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 border-t border-line p-3 text-soft">
      <p role="status">
        {isSearching || isStopped ? (
          <>
            {isSearching ? 'Searching' : 'Stopped'}: {showCount(found)} {found === 1 ? 'match' : 'matches'}
            {searchedTo === null ? null : (
              <>
                {' '}
                among jobs created since <Time at={searchedTo} />
              </>
            )}
            .
          </>
        ) : (
          `${showCount(found)} ${found === 1 ? 'match' : 'matches'}; the list does not update itself after a long search.`
        )}
      </p>
      {isSearching ? <Button onClick={stop}>Stop</Button> : null}
      {!isSearching && isStill ? <Button onClick={refresh}>Search again</Button> : null}
    </div>
  )
}
