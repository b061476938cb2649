// @ts-check
// Runs all checks one after another. Prints a line for each, and the output of those that fail.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRunAsCommand } from './check/problems.mjs'

/** @typedef {{ name: string, command: string, args: string[] }} Step */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

/** @type {Step[]} */
const STEPS = [
  { name: 'format', command: tool('biome'), args: ['check', '--error-on-warnings'] },
  { name: 'lint', command: tool('oxlint'), args: ['--type-aware', '--deny-warnings'] },
  { name: 'types', command: tool('tsc'), args: ['-p', 'tsconfig.json'] },
  { name: 'types of dashboard', command: tool('tsc'), args: ['-p', 'dashboard/tsconfig.json'] },
  { name: 'types of scripts', command: tool('tsc'), args: ['-p', 'scripts/tsconfig.json'] },
  { name: 'types of examples', command: tool('tsc'), args: ['-p', 'examples/tsconfig.json'] },
  { name: 'types of website', command: tool('tsc'), args: ['-p', 'website/tsconfig.json'] },
  { name: 'types of chaos', command: tool('tsc'), args: ['-p', 'chaos/tsconfig.json'] },
  { name: 'types of sim', command: tool('tsc'), args: ['-p', 'sim/tsconfig.json'] },
  { name: 'types of mutants', command: tool('tsc'), args: ['-p', 'mutants/tsconfig.json'] },
  { name: 'types of bench', command: tool('tsc'), args: ['-p', 'bench/tsconfig.json'] },
  {
    name: 'imports',
    command: tool('depcruise'),
    args: ['--config', 'scripts/check/import-rules.mjs', 'src', 'embedded/src'],
  },
  { name: 'dashboard size', command: process.execPath, args: ['scripts/check/dashboard-size.mjs'] },
  { name: 'sql home', command: process.execPath, args: ['scripts/check/sql-home.mjs'] },
  { name: 'links', command: process.execPath, args: ['scripts/check/links.mjs'] },
  { name: 'tidy', command: process.execPath, args: ['scripts/check/tidy.mjs'] },
  { name: 'wording', command: process.execPath, args: ['scripts/check/wording.mjs'] },
  { name: 'dead code', command: tool('knip'), args: ['--no-progress'] },
]

/** @param {string} name */
function tool(name) {
  return join(ROOT, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name)
}

/**
 * @param {Step[]} steps
 * @param {string} root
 * @param {(text: string) => void} print
 * @returns {Promise<boolean>} whether every step passed
 */
export async function runSteps(steps, root, print) {
  const width = Math.max(...steps.map(({ name }) => name.length))
  let isGreen = true
  for (const step of steps) {
    const startedAt = performance.now()
    const { hasPassed, output } = await runStep(step, root)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    print(`${hasPassed ? '✓' : '✗'} ${step.name.padEnd(width)} ${seconds.padStart(5)} s\n`)
    if (!hasPassed) print(`${output.trimEnd()}\n`)
    isGreen &&= hasPassed
  }
  return isGreen
}

/**
 * @param {Step} step
 * @param {string} root
 * @returns {Promise<{ hasPassed: boolean, output: string }>}
 */
function runStep({ command, args }, root) {
  if (!existsSync(command))
    return Promise.resolve({ hasPassed: false, output: `${command} is missing: run npm ci` })
  return new Promise((resolve) => {
    let output = ''
    // Windows runs .cmd files only through a shell.
    const child = spawn(command, args, {
      cwd: root,
      shell: command.endsWith('.cmd'),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk
      })
    }
    child.on('error', (error) => resolve({ hasPassed: false, output: error.message }))
    child.on('close', (code) => resolve({ hasPassed: code === 0, output }))
  })
}

if (isRunAsCommand(import.meta.url)) {
  const isGreen = await runSteps(STEPS, ROOT, (text) => process.stdout.write(text))
  if (!isGreen) process.exitCode = 1
}
