// Removes one rule at a time from a copy of the engine and runs the suites that should notice. Failures: a mutant that no test
// kills, or whose text no longer exists; a killer that also fails on the unchanged engine; a chaos run named by a mutant that
// does not notice it.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@unstuck/embedded'
import { exitCodeOf, watchInterruption } from '../../scripts/support/interruption.mjs'
import { readOptions, UsageError } from '../../scripts/support/read-options.mjs'
import { runInGroup } from '../../scripts/support/run-in-group.mjs'
import { type Edit, type Mutant, mutants, quickMutants, type Suite } from './mutants.ts'

interface Killer {
  file: string
  title: string
  config: string | undefined
}
interface Verdict {
  id: string
  fault: string
  killedBy: string | null
  noticedBy: string | null
  problem: string | null
  ms: number
}
interface ChaosLine {
  keptIn?: string
  invariants?: Record<string, number>
}
interface VitestReport {
  testResults: { name: string; message: string; assertionResults: { fullName: string; status: string }[] }[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const copied = [
  'src',
  'sql',
  'test',
  'scripts',
  'chaos',
  'embedded',
  'bin',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
]

/** Exit code of chaos when the machine starved its processes. */
const TOO_SLOW = 3

const USAGE = `npm run mutants -- [options]

  --only <id,…>   ${mutants.map(({ id }) => id).join(', ')}
  --quick         ${quickMutants.join(', ')}, without their chaos runs
  --json          print the verdicts as JSON
`
const { wanted, isQuick, isJson } = readOptions(
  USAGE,
  {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  ({ only, quick, json }) => {
    if (only !== undefined && quick) throw new UsageError('--only and --quick exclude each other')
    const ids = only?.split(',') ?? (quick ? quickMutants : mutants.map(({ id }) => id))
    const unknown = ids.filter((id) => !mutants.some((mutant) => mutant.id === id))
    if (unknown.length > 0) throw new UsageError(`--only: there is no mutant ${unknown.join(', ')}`)
    return { wanted: mutants.filter(({ id }) => ids.includes(id)), isQuick: quick, isJson: json }
  },
)

const startedAtMs = performance.now()
const { signal } = watchInterruption()
const verdicts: Verdict[] = []
const killers: Killer[] = []
const tree = copyTree()
const server = await startPostgres({ persistent: false, settings: { fsync: 'off', max_connections: '200' } })
try {
  await judgeAll()
} catch (error) {
  // An interruption explains the error.
  if (!signal.aborted) throw error
} finally {
  await server.stop()
  rmSync(tree, { recursive: true, force: true })
}
const survivors = verdicts.filter(({ killedBy, problem }) => killedBy === null || problem !== null)
if (signal.aborted) process.exitCode = exitCodeOf(signal)
else {
  printSummary()
  process.exitCode = survivors.length > 0 ? 1 : 0
}

async function judgeAll() {
  for (const mutant of wanted) {
    const verdict = await judge(mutant)
    verdicts.push(verdict)
    if (!isJson) console.log(describe(verdict))
  }
  const innocent = await findInnocent()
  for (const verdict of verdicts) {
    if (verdict.killedBy !== null && innocent.has(verdict.killedBy))
      verdict.problem = 'its killer also fails on the unchanged engine'
  }
}

function copyTree() {
  const folder = mkdtempSync(`${tmpdir()}/unstuck-mutants-`)
  for (const name of copied)
    cpSync(`${root}/${name}`, `${folder}/${name}`, {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
  symlinkSync(`${root}/node_modules`, `${folder}/node_modules`)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function judge({ id, fault, edits, suites, chaos }: Mutant): Promise<Verdict> {
  const beganAtMs = performance.now()
  const originals = new Map(edits.map(({ file }) => [file, readFileSync(`${tree}/${file}`, 'utf8')]))
  const missing = applyAll(edits)
  const found = missing === null ? await firstKiller(edits, suites) : { killer: null, problem: missing }
  const seen = found.killer === null || chaos === undefined || isQuick ? null : await runChaos(chaos)
  for (const [file, text] of originals) writeFileSync(`${tree}/${file}`, text)
  if (found.killer !== null) killers.push(found.killer)
  return {
    id,
    fault,
    killedBy: found.killer?.title ?? null,
    noticedBy: seen?.noticedBy ?? null,
    problem: found.problem ?? seen?.problem ?? null,
    ms: Math.round(performance.now() - beganAtMs),
  }
}

/** Returns why the edits cannot be applied. A mutant that changes nothing would never be noticed. */
function applyAll(edits: Edit[]) {
  for (const { file, find, replacement } of edits) {
    const text = readFileSync(`${tree}/${file}`, 'utf8')
    const times = text.split(find).length - 1
    if (times !== 1)
      return `${file} has ${times} of "${find.split('\n')[0]}": adapt the mutant to the current text`
    writeFileSync(
      `${tree}/${file}`,
      text.replace(find, () => replacement),
    )
  }
  return null
}

async function firstKiller(
  edits: Edit[],
  suites: Suite[],
): Promise<{ killer: Killer | null; problem: string | null }> {
  // Processes and threads load the build.
  if (edits.some(({ file }) => file.endsWith('.ts')) && !(await build()))
    return { killer: null, problem: 'it does not compile' }
  for (const suite of suites) {
    const { killer, problem } = await runSuite(suite, ['--bail=1'])
    if (killer !== null || problem !== null) return { killer, problem }
  }
  return { killer: null, problem: null }
}

async function runChaos(args: string[]): Promise<{ noticedBy: string | null; problem: string | null }> {
  const name = `chaos ${args.join(' ')}`
  if (!(await build())) return { noticedBy: null, problem: 'it does not compile' }
  const { code, stdout, stderr } = await runInGroup(
    process.execPath,
    ['scripts/chaos.mjs', ...args, '--json'],
    { cwd: tree, signal },
  )
  if (code === TOO_SLOW) return { noticedBy: null, problem: `${name}: the machine was too slow to judge` }
  if (code !== 0 && code !== 1) return { noticedBy: null, problem: `${name} failed: ${stderr}` }
  const { keptIn, invariants = {} } = JSON.parse(stdout) as ChaosLine
  if (keptIn !== undefined) rmSync(keptIn, { recursive: true, force: true })
  const violated = Object.entries(invariants).flatMap(([invariant, times]) =>
    times > 0 ? [`${invariant} ×${times}`] : [],
  )
  return code === 1
    ? { noticedBy: `${name}: ${violated.join(', ')}`, problem: null }
    : { noticedBy: null, problem: `${name} did not notice` }
}

async function build() {
  const args = ['-p', 'tsconfig.build.json', '--noUnusedLocals', 'false']
  return (await runInGroup('node_modules/.bin/tsc', args, { cwd: tree, signal })).code === 0
}

async function runSuite(
  { files, filter, config }: Suite,
  options: string[] = [],
): Promise<{ killer: Killer | null; problem: string | null; failed: Killer[] }> {
  const output = `${tree}/report.json`
  rmSync(output, { force: true })
  const { stdout, stderr } = await runInGroup(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=json',
      `--outputFile=${output}`,
      ...options,
      ...(config === undefined ? [] : ['--config', config]),
      ...(filter === undefined ? [] : ['-t', filter]),
      ...files,
    ],
    { cwd: tree, signal, env: { ...process.env, DATABASE_URL: server.url } },
  )
  const report = readReport(output)
  if (report === null) return { killer: null, problem: `vitest did not run: ${stdout}${stderr}`, failed: [] }
  const failed = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => ({ file: name.replace(`${tree}/`, ''), title: fullName, config })),
  )
  const ran = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  // A failed install does not count as noticing the fault.
  const problem = ran.some(({ status }) => status === 'failed' || status === 'passed')
    ? null
    : `no test ran: ${report.testResults.map(({ message }) => message).join()}`
  return { killer: failed[0] ?? null, problem, failed }
}

function readReport(path: string): VitestReport | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as VitestReport
  } catch {
    return null
  }
}

/** Titles of killers that also fail on the unchanged engine. */
async function findInnocent() {
  if (killers.length === 0) return new Set()
  const hasBuilt = wanted.some(({ edits }) => edits.some(({ file }) => file.endsWith('.ts')))
  if (hasBuilt) await build()
  const failed = new Set<string>()
  for (const config of new Set(killers.map((killer) => killer.config))) {
    const ofConfig = killers.filter((killer) => killer.config === config)
    const files = [...new Set(ofConfig.map(({ file }) => file))]
    const filter = ofConfig.map(({ title }) => title.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|')
    for (const { title } of (await runSuite({ files, filter, config })).failed) failed.add(title)
  }
  return failed
}

function describe({ id, fault, killedBy, noticedBy, problem, ms }: Verdict) {
  const seconds = `${(ms / 1000).toFixed(1)} s`
  if (problem !== null) return `${id} BROKEN (${seconds}) ${fault}: ${problem}`
  return killedBy === null
    ? `${id} SURVIVED (${seconds}) ${fault}`
    : `${id} killed (${seconds}) ${fault}\n   by ${[killedBy, ...(noticedBy === null ? [] : [noticedBy])].join('\n   by ')}`
}

function printSummary() {
  const seconds = Math.round((performance.now() - startedAtMs) / 1000)
  const killed = verdicts.length - survivors.length
  if (isJson) console.log(JSON.stringify({ killed, mutants: verdicts.length, seconds, verdicts }, null, 2))
  else {
    for (const verdict of survivors) console.log(describe(verdict))
    console.log(`${killed} of ${verdicts.length} mutants killed in ${seconds} s`)
  }
}
