import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedPostgresError } from '../embedded-postgres-error.ts'

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000

/**
 * Refuses a folder into which another local user could have put something: it must be root's or ours and
 * writable by nobody else, and its parent must not allow others to swap it.
 */
export async function assertTrusted(folder: string): Promise<void> {
  if (process.getuid === undefined) return
  const found = await lstat(folder)
  const parent = await lstat(dirname(folder))
  const swappable = (parent.mode & WRITABLE_BY_OTHERS) !== 0 && (parent.mode & STICKY) === 0
  const problem = !found.isDirectory()
    ? 'is not a folder'
    : !isTrustedOwner(found.uid)
      ? `belongs to user ${found.uid}`
      : (found.mode & WRITABLE_BY_OTHERS) !== 0
        ? 'can be written by other users'
        : swappable || !isTrustedOwner(parent.uid)
          ? 'lies in a folder where other users could replace it'
          : undefined
  if (problem === undefined) return
  const message = `${folder} ${problem}, so what it holds cannot be trusted. Look into it and remove it.`
  throw new EmbeddedPostgresError('UNTRUSTED_FOLDER', message)
}

/** Files of root and our own files are as trustworthy as this process. */
export function isTrustedOwner(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.()
}
