// Is the file that a job is made from still there? What an application asks before it retries a dead job (OPS-1).
import { realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Job } from '../../job/job.ts'

export type SourceCheck = (job: Pick<Job, 'payload'>) => Promise<boolean>

/**
 * Looks for the file that `payload.source` names, relative to the directory (UPLOADS_DIR). A name that leads out of the
 * directory, by `..` or by a link, is none of ours: as if it were gone.
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

/** For the commands: no directory is configured, no source is looked for. */
export function sourceCheckOf({ uploadsDir }: { uploadsDir: string | null }): { sourceExists?: SourceCheck } {
  return uploadsDir === null ? {} : { sourceExists: sourceExists(uploadsDir) }
}

function sourceOf(payload: Job['payload']): string | undefined {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
  const source = payload['source']
  // The file system takes no NUL.
  return typeof source === 'string' && source !== '' && !source.includes('\0') ? source : undefined
}
