// @ts-check
// Runs bench/main.ts. The peers need a newer Node than ours: both are installed from npm on first use, on Linux x64. On other
// platforms nothing is measured.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bringNeo4j, jars, SKIPPED } from './test/neo4j-jars.mjs'

const home = fileURLToPath(new URL('../bench', import.meta.url))
const node = `${home}/node_modules/node22/bin/node`

if (process.platform === 'linux' && process.arch === 'x64') {
  // npm's output goes to stderr: stdout is for results.
  const install = () =>
    spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: home, stdio: ['ignore', 2, 2] }).status
  const missing = isOfNeo4j() ? bringNeo4j() : null
  if (missing !== null) {
    console.error(`The benchmark of Neo4j was skipped: ${missing}. Nothing was measured.`)
    process.exitCode = SKIPPED
  } else if (isInstalled() || install() === 0) runBench()
  else process.exitCode = 1
} else {
  console.error(
    `The benchmark needs Linux x64, this is ${process.platform} ${process.arch}: nothing was measured.`,
  )
}

/** Whether the packages in bench/node_modules have the versions of bench/package.json. */
function isInstalled() {
  /** @type {(path: string) => unknown} */
  const readJson = (path) => JSON.parse(readFileSync(`${home}/${path}`, 'utf8'))
  const { dependencies } = /** @type {{ dependencies: Record<string, string> }} */ (readJson('package.json'))
  try {
    return Object.entries(dependencies).every(([name, wanted]) => {
      const { version } = /** @type {{ version: string }} */ (readJson(`node_modules/${name}/package.json`))
      return wanted.endsWith(version)
    })
  } catch {
    return false
  }
}

function isOfNeo4j() {
  const args = process.argv.slice(2)
  return args.includes('--store=neo4j') || args[args.indexOf('--store') + 1] === 'neo4j'
}

function runBench() {
  const args = ['--disable-warning=ExperimentalWarning', `${home}/main.ts`, ...process.argv.slice(2)]
  // The channel lets it notice when this process dies.
  const env = { ...process.env, UNSTUCK_BENCH_NEO4J_JARS: jars }
  const bench = spawn(node, args, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  // A terminal signals both processes, a program only this one.
  process.on('SIGINT', () => bench.kill('SIGINT'))
  process.on('SIGTERM', () => bench.kill('SIGTERM'))
  bench.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
