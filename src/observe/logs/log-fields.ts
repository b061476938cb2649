// Field names, the same in every line (SEE-1). Payloads, results and passwords are never logged, stacks only if asked for.
import type { ClaimedJob } from '../../job/lease.ts'

const MAX_REASON_LENGTH = 300

export function jobFields({ jobId, type, queue, stage, attempt, fence }: ClaimedJob) {
  return { job_id: jobId, type, queue, stage, attempt, fence }
}

/** One line, without credentials of a URL that a driver may have put into its message. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [line = ''] = message.split(/[\r\n]/, 1)
  return line.replaceAll(/:\/\/[^\s/]*@/g, '://***@').slice(0, MAX_REASON_LENGTH)
}

export function snake(fields: object): object {
  const name = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [name(key), value as unknown]))
}
