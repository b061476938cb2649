import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { AttachPlan } from '../../compose/index.ts'
import { UnstuckError } from '../../errors/index.ts'
import { type LayoutName, layouts, type MigrationFile, timestampOf } from './layouts.ts'

/** Writes the files of a plan into the folder of a migration tool and returns their paths. Never overwrites. */
export function writeLayout(plan: AttachPlan, name: LayoutName, folder: string, now: Date): string[] {
  const isDrizzle = name === 'drizzle'
  const journal = isDrizzle ? readJournal(folder) : { entries: [] }
  const ordinal = (journal.entries.at(-1)?.idx ?? -1) + 1
  const files = layouts[name]
    .files(plan, { timestamp: timestampOf(now), ordinal })
    .filter(({ text }) => hasStatements(text))
    .map(({ path, text }) => ({ path: join(folder, path), text }))
  const taken = files.find(({ path }) => existsSync(path))
  if (taken !== undefined) {
    throw new UnstuckError('PRECONDITION_FAILED', `${taken.path} already exists: nothing was written`)
  }
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  }
  return [...files.map(({ path }) => path), ...(isDrizzle ? [writeJournal(folder, journal, files, now)] : [])]
}

const hasStatements = (text: string) => text.replaceAll(/^--.*$/gm, '').trim() !== ''

interface Journal {
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[]
}

const journalPath = (folder: string) => join(folder, 'meta', '_journal.json')

function readJournal(folder: string): Journal {
  const path = journalPath(folder)
  if (!existsSync(path)) return { version: '7', dialect: 'postgresql', entries: [] } as Journal
  try {
    const journal = JSON.parse(readFileSync(path, 'utf8')) as Journal
    if (Array.isArray(journal.entries)) return journal
  } catch {
    // Told below, in words of ours.
  }
  throw new UnstuckError('PRECONDITION_FAILED', `${path} is not a Drizzle journal: nothing was written`)
}

/** Drizzle runs the entries of its journal, ordered by `when`. */
function writeJournal(folder: string, journal: Journal, files: MigrationFile[], now: Date): string {
  const last = journal.entries.at(-1)
  const start = Math.max(now.getTime(), (last?.when ?? 0) + 1)
  const added = files.map(({ path }, index) => ({
    idx: (last?.idx ?? -1) + 1 + index,
    version: last?.version ?? '7',
    when: start + index,
    tag: basename(path, '.sql'),
    breakpoints: true,
  }))
  const path = journalPath(folder)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ ...journal, entries: [...journal.entries, ...added] }, null, 2)}\n`)
  return path
}
