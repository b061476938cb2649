import { createHash } from 'node:crypto'
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertTrusted } from '../data/assert-trusted.ts'
import { EmbeddedPostgresError, errnoOf, writing } from '../embedded-postgres-error.ts'
import { isRoot } from '../server/run-as.ts'

/** Outlives reboots and is open to every user, which neither a home folder nor a private TMPDIR is. */
export function sharedFolder(): string {
  return process.platform === 'win32' ? tmpdir() : '/var/tmp'
}

/**
 * Copies binaries that cannot be used where they are (below a private folder, or a read-only one without its
 * symbolic links) and answers with the folder of the copy. The copy is made once and checked at each use:
 * systems that clean /var/tmp by age remove single files from it.
 */
export async function stageBinaries(
  source: string,
  restoreSymlinks: (folder: string) => Promise<boolean>,
  parent = sharedFolder(),
): Promise<string> {
  const suffix = isRoot() || process.getuid === undefined ? '' : `-${process.getuid()}`
  const folder = join(parent, `unstuck-pg-${await labelOf(source)}${suffix}`)
  return writing(parent, async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (await isThere(folder)) {
        await assertTrusted(folder)
        if (await isComplete(source, folder)) return folder
        await discard(folder)
      }
      const copy = await mkdtemp(`${folder}.new-`)
      try {
        await copyTree(source, copy)
        await restoreSymlinks(copy)
        await chmod(copy, 0o755)
        await rename(copy, folder)
      } catch (error) {
        await rm(copy, { recursive: true, force: true })
        // Another process was first; its copy is checked like any other.
        if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error
      }
    }
    throw new EmbeddedPostgresError('NO_BINARIES', `${folder} keeps changing while it is being prepared.`)
  })
}

async function labelOf(source: string): Promise<string> {
  const text = await readFile(join(source, '..', 'package.json'), 'utf8').catch(() => '{}')
  const description: unknown = JSON.parse(text)
  if (typeof description === 'object' && description !== null) {
    const { name, version } = description as { name?: unknown; version?: unknown }
    const isOurs = typeof name === 'string' && name.startsWith('@embedded-postgres/')
    if (isOurs && typeof version === 'string' && /^[\w.-]+$/.test(version)) return version
  }
  const { size, mtimeMs } = await lstat(join(source, 'bin', 'postgres'))
  return createHash('sha256').update(`${source}\0${size}\0${mtimeMs}`).digest('hex').slice(0, 16)
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

async function isComplete(source: string, copy: string): Promise<boolean> {
  const present = new Set(await readdir(copy, { recursive: true }))
  return (await readdir(source, { recursive: true })).every((path) => present.has(path))
}

async function discard(folder: string): Promise<void> {
  const aside = await mkdtemp(`${folder}.old-`)
  try {
    await rename(folder, aside)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/** Sets modes itself: the source may be private through its modes (umask 077), and our umask may be as well. */
async function copyTree(source: string, copy: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name)
    const to = join(copy, entry.name)
    if (entry.isDirectory()) {
      await mkdir(to)
      await copyTree(from, to)
      await chmod(to, 0o755)
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(from), to)
    } else if (entry.isFile()) {
      const { mode } = await lstat(from)
      await copyFile(from, to)
      await chmod(to, (mode & 0o100) === 0 ? 0o644 : 0o755)
    }
  }
}
