// A folder and a database, as somebody has them who types commands. A configuration file that a test rewrites needs
// runCommand: modules are loaded once in a process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runInProcess } from '../surface/in-process.ts'
import type { CommandResult } from '../surface/run-command.ts'

export interface CommandFolder {
  database: TestDatabase
  folder: string
  run: (...args: string[]) => Promise<CommandResult>
  close: () => Promise<void>
}

export async function openCommandFolder(): Promise<CommandFolder> {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-commands-'))
  return {
    database,
    folder,
    run: (...args) => runInProcess(args, { DATABASE_URL: database.url }, folder),
    close: async () => {
      rmSync(folder, { recursive: true })
      await database.drop()
    },
  }
}
