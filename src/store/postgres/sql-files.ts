// Reads sql/, which ships beside dist/ and src/ alike. Files are read on demand, and once.
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../sql/', import.meta.url))
const texts = new Map<string, string>()

export interface SqlFile {
  name: string
  text: string
}

/** A function or procedure of sql/functions. */
export interface Routine extends SqlFile {
  /** Rendered once for each job table: its quoted name, `"unstuck"."claim_jobs"`, says so. */
  isPerTable: boolean
}

type AttachFolder = 'session' | 'grants' | 'table' | 'indexes' | 'engine'

type SqlFolder =
  | 'migrations'
  | 'functions'
  | 'queries'
  | 'attach'
  | `attach/${AttachFolder}`
  | 'team'
  | 'scan'
  | 'doctor'

export function readSql(folder: SqlFolder, name: string): string {
  const path = join(root, folder, `${name}.sql`)
  const text = texts.get(path) ?? readFileSync(path, 'utf8')
  texts.set(path, text)
  return text
}

/** All files of a folder and its subfolders, sorted by path. */
export function readSqlFolder(folder: SqlFolder): SqlFile[] {
  return listSql(folder).map((name) => ({ name, text: readSql(folder, name) }))
}

/** Sorted paths relative to the folder, without their extension. */
export function listSql(folder: SqlFolder): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length).replaceAll(sep, '/'))
    .sort()
}

let routines: Routine[] | undefined

/** Every routine of sql/functions with the comment above it. Folders only group them. */
export function readRoutines(): Routine[] {
  routines ??= readSqlFolder('functions').flatMap(({ text }) => routinesIn(text))
  return routines
}

const routineStart = /^(?:--.*\n)*create or replace (?:function|procedure) "unstuck"\.("?)(\w+)/gm

function routinesIn(text: string): Routine[] {
  const starts = [...text.matchAll(routineStart)]
  return starts.map(({ index, 1: quote, 2: name = '' }, place) => ({
    name,
    text: `${text.slice(index, starts[place + 1]?.index).trimEnd()}\n`,
    isPerTable: quote === '"',
  }))
}
