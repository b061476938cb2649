import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { sharedFolder } from '../binaries/stage-binaries.ts'
import { EmbeddedPostgresError, errnoOf, writing } from '../embedded-postgres-error.ts'
import { canEnter, isRoot, nobody, ownerOfData } from '../server/run-as.ts'
import type { RunAs } from '../server/run-program.ts'
import { assertTrusted } from './assert-trusted.ts'

export type DataDirPlace = {
  path: string
  runAs: RunAs | undefined
  /** Folder removed at stop; undefined for persistent data. */
  removeAtStop: string | undefined
}

/** Decides where the data lives and as whom the server runs. Creates the parent folder, not the data. */
export async function placeDataDir(
  options: { dataDir?: string | undefined; persistent?: boolean | undefined },
  major: number,
): Promise<DataDirPlace> {
  const persistent = options.persistent ?? true
  if (options.dataDir === undefined && !persistent) return placeTemporary()
  const wanted = resolve(options.dataDir ?? join('.unstuck', `postgres-${major}`))
  const place = await placeAt(wanted)
  if (!persistent) await assertNothingToLose(place.path)
  if (options.dataDir === undefined) await keepOutOfGit(place.path)
  return { ...place, removeAtStop: persistent ? undefined : place.path }
}

async function placeAt(wanted: string): Promise<{ path: string; runAs: RunAs | undefined }> {
  if (!isRoot()) {
    await makeFolder(dirname(wanted))
    return { path: wanted, runAs: undefined }
  }
  const runAs = (await ownerOfData(wanted)) ?? (await nobody())
  if (await canEnter(await nearestFolder(dirname(wanted)), runAs)) {
    await makeFolder(dirname(wanted))
    // A restrictive umask may have closed what was just created.
    if (await canEnter(dirname(wanted), runAs)) return { path: wanted, runAs }
  }
  const path = await relocated(wanted)
  return { path, runAs: (await ownerOfData(path)) ?? (await nobody()) }
}

/** Below a private folder such as /root the server could not reach its data: the same path maps to the same place. */
async function relocated(wanted: string): Promise<string> {
  const parent = join(sharedFolder(), 'unstuck-pg-data')
  const project = join(parent, createHash('sha256').update(wanted).digest('hex').slice(0, 16))
  for (const folder of [parent, project]) {
    // chmod as well, because the umask may have narrowed the mode.
    const creation = async (): Promise<void> => {
      await mkdir(folder, 0o711)
      await chmod(folder, 0o711)
    }
    await writing(sharedFolder(), () => ignoringExisting(creation()))
    await assertTrusted(folder)
  }
  return join(project, basename(wanted))
}

async function placeTemporary(): Promise<DataDirPlace> {
  const runAs = isRoot() ? await nobody() : undefined
  for (const parent of [tmpdir(), sharedFolder()]) {
    const folder = await writing(parent, () => mkdtemp(join(parent, 'unstuck-pg-')))
    if (runAs === undefined) return { path: join(folder, 'data'), runAs, removeAtStop: folder }
    // Its own folder, so that the watchdog, which has no more rights than the server, can remove it.
    await chown(folder, runAs.uid, runAs.gid)
    if (await canEnter(folder, runAs)) return { path: join(folder, 'data'), runAs, removeAtStop: folder }
    await rm(folder, { recursive: true, force: true })
  }
  const message = `Neither ${tmpdir()} nor ${sharedFolder()} is open to the user nobody. Set dataDir.`
  throw new EmbeddedPostgresError('NO_ACCESS', message)
}

async function assertNothingToLose(dataDir: string): Promise<void> {
  const entries = await readdir(dataDir).catch(() => [])
  if (entries.length === 0) return
  const message = `${dataDir} is not empty, and persistent: false would remove it at stop. Name a new folder.`
  throw new EmbeddedPostgresError('DATA_DIR_UNUSABLE', message)
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((await lstat(folder).catch(() => undefined)) !== undefined || folder === dirname(folder))
      return folder
  }
}

/** Not `mkdir({ recursive: true })`: on a read-only file system Node reports ENOENT from it. */
async function makeFolder(path: string): Promise<void> {
  const existing = await nearestFolder(path)
  const missing = relative(existing, path).split(sep).filter(Boolean)
  await writing(path, async () => {
    for (let depth = 1; depth <= missing.length; depth += 1) {
      await ignoringExisting(mkdir(join(existing, ...missing.slice(0, depth))))
    }
  })
}

async function ignoringExisting(creation: Promise<void>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (errnoOf(error) !== 'EEXIST') throw error
  })
}

/** The default folder lies in somebody's project and holds a password. */
async function keepOutOfGit(dataDir: string): Promise<void> {
  const folder = dirname(dataDir)
  await writing(folder, () => ignoringExisting(writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' })))
}
