// A folder and a database, as somebody has them who types commands.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInProcess } from '../cli/support/in-process.ts'
import { type CommandResult, runCommand } from '../cli/support/run-command.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

export interface CommandFolder {
  database: TestDatabase
  folder: string
  run: (...args: string[]) => Promise<CommandResult>
  close: () => Promise<void>
}

export async function openCommandFolder(env: Record<string, string> = {}): Promise<CommandFolder> {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-commands-'))
  const config = join(folder, 'unstuck.config.mjs')
  let loaded: string | undefined
  /** A process loads a module once: a configuration that was rewritten since takes a new one. */
  const isLoadable = () => {
    if (!existsSync(config)) return true
    const text = readFileSync(config, 'utf8')
    loaded ??= text
    return loaded === text
  }
  return {
    database,
    folder,
    run: (...args) => {
      const run = isLoadable() ? runInProcess : runCommand
      return run(args, { ...env, DATABASE_URL: database.url }, folder)
    },
    close: async () => {
      rmSync(folder, { recursive: true })
      await database.drop()
    },
  }
}
