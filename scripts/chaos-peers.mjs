// @ts-check
// Runs chaos/src/peers/main.ts from the build. The peers need a newer Node than ours: both are packages of bench/, installed from
// npm on first use, on Linux x64. On other platforms peers that cannot be loaded are reported as skipped.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readPeerOptions } from '../chaos/dist/peers/options.js'

const home = fileURLToPath(new URL('../bench', import.meta.url))
const node = `${home}/node_modules/node22/bin/node`
const isSupported = process.platform === 'linux' && process.arch === 'x64'

// Reports invalid options before anything is installed.
readPeerOptions()
if (isSupported && !existsSync(node))
  spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: home, stdio: ['ignore', 2, 2] })
if (!existsSync(node)) console.error('Node 22 for the peers is not installed: some peers are skipped.')

const main = fileURLToPath(new URL('../chaos/dist/peers/main.js', import.meta.url))
// The channel lets it notice when this process dies.
const run = spawn(existsSync(node) ? node : process.execPath, [main, ...process.argv.slice(2)], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
// A terminal signals both processes, a program only this one.
process.on('SIGINT', () => run.kill('SIGINT'))
process.on('SIGTERM', () => run.kill('SIGTERM'))
run.on('exit', (code) => {
  process.exitCode = code ?? 1
})
