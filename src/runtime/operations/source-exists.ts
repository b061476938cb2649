// Whether the source file of a job still exists: checked before a dead job is retried (OPS-1).
import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Job } from '../../job/job.ts'

export type SourceCheck = (job: Pick<Job, 'payload'>) => Promise<boolean>

/**
 * Looks for the file named by `payload.source`, relative to the directory (UPLOADS_DIR). A path that leads out of the
 * directory, by `..` or by a link, counts as missing.
 */
export function sourceExists(uploadsDir: string): SourceCheck {
  return async ({ payload }) => {
    const source = sourceOf(payload)
    if (source === undefined) return false
    try {
      const directory = await realpath(uploadsDir)
      const file = await realpath(resolve(directory, source))
      return file.startsWith(directory.endsWith(sep) ? directory : directory + sep)
    } catch {
      return false
    }
  }
}

/** For the commands: without a configured directory, no source is checked. */
export function sourceCheckOf({ uploadsDir }: { uploadsDir: string | null }): { sourceExists?: SourceCheck } {
  return uploadsDir === null ? {} : { sourceExists: sourceExists(uploadsDir) }
}

function sourceOf(payload: Job['payload']): string | undefined {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
  const source = payload['source']
  // File systems accept no NUL.
  return typeof source === 'string' && source !== '' && !source.includes('\0') ? source : undefined
}
