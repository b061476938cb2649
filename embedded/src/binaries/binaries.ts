import { randomUUID } from 'node:crypto'
import { readFile, readlink, rename, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { EmbeddedPostgresError, errnoOf, isPermissionErrno } from '../embedded-postgres-error.ts'
import { isRoot } from '../server/run-as.ts'
import type { RunAs } from '../server/run-program.ts'
import { runProgram } from '../server/run-program.ts'
import { stageBinaries } from './stage-binaries.ts'

export type Binaries = { folder: string; version: string; major: number }

/** Makes the binaries runnable by the user the server will run as, copying them only when they must move. */
export async function prepareBinaries(
  wanted: string | undefined,
  runAs: RunAs | undefined,
): Promise<Binaries> {
  const folder = wanted === undefined ? locateBinaries() : resolve(wanted)
  if ((await stat(executable(folder, 'postgres')).catch(() => undefined)) === undefined) {
    throw new EmbeddedPostgresError(
      'NO_BINARIES',
      `There is no PostgreSQL in ${folder}: bin/postgres is missing.`,
    )
  }
  let found: Binaries | string = 'its symbolic links are missing and cannot be created'
  const linked = await restoreSymlinks(folder)
  if (linked) found = await readVersion(folder, runAs)
  if (!linked || (typeof found === 'string' && isRoot() && /EACCES|permission denied/i.test(found))) {
    found = await readVersion(await stageBinaries(folder, restoreSymlinks), runAs)
    if (typeof found === 'string')
      found += ` (a copy of ${folder}; perhaps its file system is mounted noexec)`
  }
  if (typeof found === 'string') {
    throw new EmbeddedPostgresError('NO_BINARIES', `PostgreSQL cannot be executed: ${found}${cLibraryHint()}`)
  }
  return found
}

export function executable(folder: string, name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  return join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

function locateBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch (cause) {
    const message =
      `The PostgreSQL binaries for this machine, ${name}, are not installed. ` +
      'Install with optional dependencies, or use a PostgreSQL of your own.'
    throw new EmbeddedPostgresError('NO_BINARIES', message, { cause })
  }
}

/**
 * npm packages cannot carry symbolic links and install scripts are often blocked, so the links the package
 * lists are made here. Answers false when the folder does not let us.
 */
export async function restoreSymlinks(folder: string): Promise<boolean> {
  for (const { source, target } of await readSymlinkList(folder)) {
    const link = inside(folder, target)
    const destination = relative(dirname(link), inside(folder, source))
    try {
      await restoreSymlink(link, destination)
    } catch (error) {
      if (isPermissionErrno(errnoOf(error))) return false
      throw error
    }
  }
  return true
}

async function restoreSymlink(link: string, destination: string): Promise<void> {
  if ((await stat(link).catch(() => undefined)) !== undefined) return
  try {
    await symlink(destination, link)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    // Another process made it just now, or it dangles; a dangling one is replaced in one step.
    if ((await readlink(link)) === destination) return
    const replacement = `${link}.${randomUUID()}`
    await symlink(destination, replacement)
    await rename(replacement, link)
  }
}

type ListedLink = { source: string; target: string }

async function readSymlinkList(folder: string): Promise<ListedLink[]> {
  const text = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const list: unknown = JSON.parse(text)
  return Array.isArray(list) ? list.filter(isListedLink) : []
}

function isListedLink(entry: unknown): entry is ListedLink {
  const { source, target } = (entry ?? {}) as Partial<Record<keyof ListedLink, unknown>>
  return typeof source === 'string' && typeof target === 'string'
}

/** The list names paths from the package's root ("native/lib/…"), whatever the folder is called by now. */
function inside(folder: string, listed: string): string {
  const path = resolve(folder, listed.replace(/^native\//, ''))
  if (path.startsWith(folder + sep)) return path
  throw new EmbeddedPostgresError(
    'UNTRUSTED_FOLDER',
    `${folder} lists a link outside itself: ${basename(path)}`,
  )
}

async function readVersion(folder: string, runAs: RunAs | undefined): Promise<Binaries | string> {
  const file = executable(folder, 'postgres')
  // From '/', as the current folder may be closed to the user the server runs as.
  const result = await runProgram(file, ['-V'], { cwd: process.platform === 'win32' ? folder : '/', runAs })
  const [, version, major] = /\(PostgreSQL\) ((\d+)\S*)/.exec(result.stdout) ?? []
  if (!result.ok || version === undefined) return `${file}: ${result.stderr.trim()}`
  return { folder, version, major: Number(major) }
}

function cLibraryHint(): string {
  if (process.platform !== 'linux') return ''
  const report: unknown = process.report.getReport()
  if (JSON.stringify(report).includes('glibcVersionRuntime')) return ''
  return ' (these binaries need glibc, which this system does not use)'
}
