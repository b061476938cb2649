import { shortId } from '../format/show-time.ts'
import { Go, jobPath } from '../shell/address.tsx'

/** The end of a job's id, in one line, as a link to the job. */
export function JobId({ id, table = null }: { id: string; table?: string | null }) {
  return (
    <Go
      to={jobPath(id)}
      {...(table === null ? {} : { values: { table } })}
      className="link inline-flex min-h-6 items-center font-mono text-xs whitespace-nowrap"
    >
      {shortId(id)}
    </Go>
  )
}
