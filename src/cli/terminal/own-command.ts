import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url))

/** The command line of this installation. In a checkout npx would look for a package of that name. */
export function ownCommand(folder: string = PACKAGE, cwd: string = process.cwd()): string {
  if (folder.split(sep).includes('node_modules')) return 'npx unstuck'
  return `node ${relative(cwd, join(folder, 'bin', 'unstuck.js'))}`
}
