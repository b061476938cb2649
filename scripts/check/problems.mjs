// @ts-check
// The result of a check, and its output when the check runs as a command.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ path: string, line: number, message: string }} Problem */

/** @param {string} moduleUrl the caller's `import.meta.url` */
export function isRunAsCommand(moduleUrl) {
  return process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(moduleUrl)
}

/** @param {Problem[]} problems */
export function printProblems(problems) {
  for (const { path, line, message } of problems) console.error(`${path}:${line} ${message}`)
  if (problems.length > 0) process.exitCode = 1
}

/**
 * @param {string} moduleUrl
 * @param {(root: string) => Problem[]} findProblems
 */
export function runAsCommand(moduleUrl, findProblems) {
  if (isRunAsCommand(moduleUrl)) printProblems(findProblems(resolve(process.argv[2] ?? '.')))
}
