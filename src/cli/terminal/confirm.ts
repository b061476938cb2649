import { createInterface } from 'node:readline/promises'
import { UnstuckError } from '../../errors/index.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { printProgress } from './output.ts'

/** Asks on a terminal. Without one, or with --json, --yes is required. */
export async function confirm(what: string, flags: ConnectionFlags & { yes?: boolean }): Promise<boolean> {
  if (flags.yes === true) return true
  if (!process.stdin.isTTY || !process.stderr.isTTY || flags.json === true) {
    throw new UnstuckError('INVALID_ARGUMENT', `${what} There is no terminal to ask on.`, {
      hint: 'Add --yes to confirm.',
    })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    printProgress(what)
    return /^y(es)?$/i.test((await terminal.question('Continue? [y/N] ')).trim())
  } finally {
    terminal.close()
  }
}
