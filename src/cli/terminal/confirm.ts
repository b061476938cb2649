import { createInterface } from 'node:readline/promises'
import { UnstuckError } from '../../errors/index.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { printProgress } from './output.ts'

/** Asks on a terminal. Elsewhere, and where a program reads the answer, only --yes will do. */
export async function confirm(what: string, flags: ConnectionFlags & { yes?: boolean }): Promise<boolean> {
  if (flags.yes === true) return true
  if (!process.stdin.isTTY || !process.stderr.isTTY || flags.json === true) {
    throw new UnstuckError('INVALID_ARGUMENT', `${what} There is nobody to ask.`, {
      hint: 'Add --yes to do it.',
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
