// @ts-check
// Limits the size of the dashboard as a browser loads it, compressed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runAsCommand } from './problems.mjs'

/** @import { Problem } from './problems.mjs' */

const FOLDER = 'dist/dashboard/assets'
const MAX_SCRIPT_BYTES = 200 * 1024

/**
 * @param {string} root
 * @returns {Problem[]}
 */
export function findProblems(root) {
  const folder = join(root, FOLDER)
  if (!existsSync(folder)) return [{ path: FOLDER, line: 1, message: 'is missing: run npm run build' }]
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
  if (bytes <= MAX_SCRIPT_BYTES) return []
  return [
    { path: FOLDER, line: 1, message: `has ${bytes} bytes of compressed script, over ${MAX_SCRIPT_BYTES}` },
  ]
}

runAsCommand(import.meta.url, findProblems)
