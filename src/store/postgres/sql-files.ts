// Reads sql/, which ships beside dist/ and src/ alike. Nothing is read before it is needed, and nothing twice.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../sql/', import.meta.url))
const texts = new Map<string, string>()

export interface SqlFile {
  name: string
  text: string
}

type SqlFolder = 'migrations' | 'core' | 'functions' | 'queries' | 'attach' | 'team' | 'scan' | 'doctor'

export function readSql(folder: SqlFolder, name: string): string {
  const path = join(root, folder, `${name}.sql`)
  const text = texts.get(path) ?? readFileSync(path, 'utf8')
  texts.set(path, text)
  return text
}

/** All files of a folder, by name. */
export function readSqlFolder(folder: SqlFolder): SqlFile[] {
  return listSql(folder).map((name) => ({ name, text: readSql(folder, name) }))
}

/** Their names alone, in order. */
export function listSql(folder: SqlFolder): string[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => file.slice(0, -'.sql'.length))
}
