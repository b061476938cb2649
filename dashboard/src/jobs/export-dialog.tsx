import { useEffect, useRef, useState } from 'react'
import { messageOf, RequestProblem } from '../api/client.ts'
import { type JobQuery, readJobs } from '../api/queries.ts'
import { exportLine } from '../format/cli-line.ts'
import { plural } from '../format/show-time.ts'
import { Button } from '../ui/button.tsx'
import { CopyLine } from '../ui/copy-line.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Problem } from '../ui/field.tsx'
import { say } from '../ui/toast.tsx'
import { type ExportFormat, exportJobs } from './export-jobs.ts'
import type { JobColumn } from './job-columns.ts'

interface ExportDialogProps {
  q: string
  table: string | null
  columns: JobColumn[]
  hasPayload: boolean
  close: () => void
}

const PAGE_SIZE = 1_000
const FORMATS = {
  csv: { name: 'CSV', hint: 'the visible columns', type: 'text/csv' },
  ndjson: { name: 'NDJSON', hint: 'all fields, one job per line', type: 'application/x-ndjson' },
} as const

export function ExportDialog({ q, table, columns, hasPayload, close }: ExportDialogProps) {
  const [format, setFormat] = useState<ExportFormat>('csv')
  const { run, stop, count, problem } = useExport({ q, limit: PAGE_SIZE, withPayload: hasPayload }, table)
  return (
    <Dialog title="Export jobs" onClose={close}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void run(format, columns).then((isDone) => isDone && close())
        }}
      >
        <p className="text-soft">
          {q === '' ? 'All jobs' : 'All jobs that match the search'}, redacted as shown.
        </p>
        <fieldset className="flex flex-col" disabled={count !== null}>
          <legend className="mb-1 font-medium">Format</legend>
          {(['csv', 'ndjson'] as const).map((one) => (
            <label key={one} className="flex min-h-8 items-center gap-2">
              <input
                type="radio"
                name="format"
                data-first={one === format ? '' : undefined}
                className="size-4 accent-accent-fill"
                checked={one === format}
                onChange={() => setFormat(one)}
              />
              {FORMATS[one].name} <span className="text-soft">({FORMATS[one].hint})</span>
            </label>
          ))}
        </fieldset>
        {format === 'ndjson' ? <CopyLine line={exportLine(q, { table, payload: hasPayload })} /> : null}
        {problem === null ? null : <Problem>{problem}</Problem>}
        <div className="flex items-center justify-end gap-2">
          <p role="status" className="mr-auto text-soft">
            {count === null ? '' : `${plural(count, 'job')} read`}
          </p>
          {count === null ? (
            <Button onClick={close}>Close</Button>
          ) : (
            <Button kind="danger" onClick={stop}>
              Stop
            </Button>
          )}
          <Button type="submit" kind="main" isBusy={count !== null}>
            Export {FORMATS[format].name}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** `count` is null while no export runs. Closing the dialog stops it. */
function useExport(query: JobQuery, table: string | null) {
  const [count, setCount] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const running = useRef<AbortController | null>(null)
  const stop = () => running.current?.abort()
  useEffect(() => () => running.current?.abort(), [])
  const run = async (format: ExportFormat, columns: JobColumn[]): Promise<boolean> => {
    if (count !== null) return false
    const { signal } = (running.current = new AbortController())
    setCount(0)
    setProblem(null)
    try {
      const readPage = (cursor: string | null) => readPatiently(query, table, cursor, signal)
      const parts = await exportJobs({ format, columns, readPage, tell: setCount, signal })
      if (parts === null) return false
      save(parts, format)
      say('Exported.')
      return true
    } catch (error) {
      if (!signal.aborted) setProblem(messageOf(error))
      return false
    } finally {
      setCount(null)
    }
  }
  return { run, stop, count, problem }
}

/** Waits as long as a rate limit says. */
async function readPatiently(
  query: JobQuery,
  table: string | null,
  cursor: string | null,
  signal: AbortSignal,
): ReturnType<typeof readJobs> {
  for (;;) {
    try {
      return await readJobs(query, table, cursor)
    } catch (error) {
      const waitMs = error instanceof RequestProblem && error.status === 429 ? error.retryAfterMs : null
      if (waitMs === null || signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

function save(parts: string[], format: ExportFormat): void {
  const address = URL.createObjectURL(new Blob(parts, { type: FORMATS[format].type }))
  const link = document.createElement('a')
  link.href = address
  link.download = `jobs.${format}`
  link.click()
  // The browser must start the download first.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
