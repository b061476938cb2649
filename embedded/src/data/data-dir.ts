import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, chown, link, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Binaries, executable } from '../binaries/binaries.ts'
import { EmbeddedPostgresError, errnoOf, writing } from '../embedded-postgres-error.ts'
import { runProgram } from '../server/run-program.ts'
import { isTrustedOwner } from './assert-trusted.ts'
import type { DataDirPlace } from './place-data-dir.ts'

/** initdb takes about a second: a half-made data directory this old was left behind by a killed process. */
const ABANDONED_AFTER_MS = 10 * 60_000

/** Ensures a cluster for these binaries, and returns the superuser's password. */
export async function openDataDir(
  place: DataDirPlace,
  binaries: Binaries,
  signal: AbortSignal | undefined,
): Promise<string> {
  const entries = await listData(place.path)
  if (entries.length === 0) {
    const password = await obtainPassword(place.path)
    await removeAbandoned(place.path)
    await writing(dirname(place.path), () => createCluster(place, binaries, password, signal))
    return password
  }
  const major = await readFile(join(place.path, 'PG_VERSION'), 'utf8').catch(() => undefined)
  const password = await readPassword(place.path)
  if (major === undefined || password === undefined) {
    const message = `${place.path} is not empty, but not a data directory made here (or not completely). Remove it or set dataDir.`
    throw new EmbeddedPostgresError('DATA_DIR_UNUSABLE', message)
  }
  if (Number(major) !== binaries.major) {
    const message = `${place.path} was made by PostgreSQL ${major.trim()}, these binaries are ${binaries.version}. Set another dataDir.`
    throw new EmbeddedPostgresError('DATA_DIR_UNUSABLE', message)
  }
  return password
}

export function passwordFile(dataDir: string): string {
  return `${dataDir}.password`
}

async function listData(dataDir: string): Promise<string[]> {
  try {
    return await readdir(dataDir)
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return []
    const message = `${dataDir} cannot be read (${errnoOf(cause)}). It may belong to another user: set dataDir to a folder of your own.`
    throw new EmbeddedPostgresError('DATA_DIR_UNUSABLE', message, { cause })
  }
}

async function readPassword(dataDir: string): Promise<string | undefined> {
  const file = passwordFile(dataDir)
  const found = await lstat(file).catch(() => undefined)
  if (found === undefined) return undefined
  const isPrivate = process.getuid === undefined || (isTrustedOwner(found.uid) && (found.mode & 0o077) === 0)
  if (found.isFile() && isPrivate) return readFile(file, 'utf8')
  const message = `${file} belongs to user ${found.uid} or is open to others, so the password in it cannot be trusted.`
  throw new EmbeddedPostgresError('UNTRUSTED_FOLDER', message)
}

/** If several processes create the same data directory at once, the first decides the password. */
async function obtainPassword(dataDir: string): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  const draft = draftOf(dataDir)
  return writing(dirname(dataDir), async () => {
    await writeFile(draft, password, { mode: 0o600, flag: 'wx' })
    try {
      await link(draft, passwordFile(dataDir))
      return password
    } catch (error) {
      const existing = errnoOf(error) === 'EEXIST' ? await readPassword(dataDir) : undefined
      if (existing === undefined) throw error
      return existing
    } finally {
      await rm(draft, { force: true })
    }
  })
}

/**
 * A data directory appears complete or not at all: it is made under another name and renamed. One that exists
 * already, empty, is filled in place instead, as it may be a mount point.
 */
async function createCluster(
  place: DataDirPlace,
  binaries: Binaries,
  password: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = draftOf(place.path)
  const secret = `${draft}.secret`
  const inPlace = (await lstat(place.path).catch(() => undefined)) !== undefined
  const target = inPlace ? place.path : draft
  try {
    if (!inPlace) await mkdir(draft, { mode: 0o700 })
    await writeFile(secret, password, { mode: 0o600, flag: 'wx' })
    if (place.runAs !== undefined) {
      for (const path of [target, secret]) await chown(path, place.runAs.uid, place.runAs.gid)
      await chmod(target, 0o700)
    }
    await initdb(target, secret, place, binaries, signal)
    if (!inPlace) await publish(draft, place.path)
  } finally {
    await rm(secret, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

async function initdb(
  target: string,
  secret: string,
  place: DataDirPlace,
  binaries: Binaries,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = ['-D', target, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${secret}`]
  args.push('--locale=C', '--encoding=UTF8', '--no-instructions')
  // Nothing of it outlives the server.
  if (place.removeAtStop !== undefined) args.push('--no-sync')
  const options = { cwd: binaries.folder, runAs: place.runAs, signal }
  const result = await runProgram(executable(binaries.folder, 'initdb'), args, options)
  signal?.throwIfAborted()
  if (result.ok) return
  if (result.stderr.includes('could not look up effective user ID')) {
    const message = `initdb needs a user with a name, and user ${process.getuid?.()} is not in /etc/passwd. Run as one that is.`
    throw new EmbeddedPostgresError('NO_ACCESS', message)
  }
  throw new EmbeddedPostgresError('START_FAILED', `initdb failed in ${target}:\n${result.stderr.trim()}`)
}

async function publish(draft: string, dataDir: string): Promise<void> {
  try {
    await rename(draft, dataDir)
  } catch (error) {
    // Another process was first. Both clusters have the same password, so theirs serves as well.
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error
  }
}

function draftOf(dataDir: string): string {
  return `${dataDir}.init-${randomUUID()}`
}

async function removeAbandoned(dataDir: string): Promise<void> {
  const parent = dirname(dataDir)
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(`${basename(dataDir)}.init-`)) continue
    const path = join(parent, name)
    const found = await lstat(path).catch(() => undefined)
    if (found === undefined || Date.now() - found.mtimeMs < ABANDONED_AFTER_MS) continue
    await rm(path, { recursive: true, force: true })
  }
}
