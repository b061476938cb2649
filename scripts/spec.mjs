// @ts-check
// Checks the models of spec/: Quint simulates lease.qnt, Spin explores all states of lease.pml and presence.pml, and new traces are replayed on
// the SQL functions. A variant with a rule removed must fail. Quint is installed from npm on first use; without spin and gcc
// that part is reported as skipped.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { readOptions, wholeNumber } from './support/read-options.mjs'

/** @typedef {{ lastStep: { verb: string, answer: string }, jobs: unknown }} State */
/** @typedef {{ states: Record<string, never>[] }} Trace */

const root = fileURLToPath(new URL('..', import.meta.url))
const spec = fileURLToPath(new URL('../spec', import.meta.url))
const fixtures = fileURLToPath(new URL('../test/spec/traces', import.meta.url))
const quint = `${spec}/node_modules/.bin/quint`

const invariants = [
  'nothingWrong',
  'leasesAreUnique',
  'leaseWhileRunning',
  'acknowledgedIsDurable',
  'attemptsAreClaims',
  'budgetsHold',
  'deadForAReason',
]
/** A run without these proves nothing. */
const witnesses = ['someCompleted', 'someDead', 'someRetried', 'someFailover', 'someRefused']
const safe = ['sound', 'counterWithoutFailover']
const broken = [
  'withoutFence',
  'counterAsLease',
  'reapWithoutCheck',
  'forgetfulEnd',
  'cancelOverEnd',
  'reapGivesBack',
]

const spinSafe = [[], ['COUNTER_AS_LEASE', 'WITHOUT_FAILOVER']]
const spinBroken = [
  'WITHOUT_FENCE',
  'COUNTER_AS_LEASE',
  'REAP_WITHOUT_CHECK',
  'FORGETFUL_END',
  'CANCEL_OVER_END',
]
/** The last one removes nothing: the job of a dead worker must be taken in some run. */
const presenceBroken = [
  'WITHOUT_EPOCH',
  'WITHOUT_VETO',
  'WITHOUT_GRACE',
  'WITHOUT_SIGN',
  'WITHOUT_KEY_LOCK',
  'WITNESS',
]

let passed = 0
/** @type {string[]} */
const failed = []
let skipped = 0

const USAGE = `npm run spec -- [options]

  --quick          two broken variants of each model, 50 runs and 3 traces, without liveness
  --runs R         runs of each model that must hold (default: 300)
  --steps S        steps of each run (default: 60)
  --traces T       new traces to replay on PostgreSQL (default: 10)
  --seed S         repeat a run
  --write-traces   rewrite the traces of test/spec and exit
`
const settings = readOptions(
  USAGE,
  {
    quick: { type: 'boolean', default: false },
    runs: { type: 'string' },
    steps: { type: 'string', default: '60' },
    traces: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'write-traces': { type: 'boolean', default: false },
  },
  ({ quick, runs, steps, traces, seed, 'write-traces': isWriting }) => ({
    seed: wholeNumber('seed', seed, 0),
    runs: wholeNumber('runs', runs ?? (quick ? '50' : '300')),
    steps: wholeNumber('steps', steps),
    traces: wholeNumber('traces', traces ?? (quick ? '3' : '10')),
    isQuick: quick,
    isWriting,
  }),
)

const folder = mkdtempSync(`${tmpdir()}/unstuck-spec-`)
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
console.log(`seed ${settings.seed}`)
if (settings.isWriting) writeFixtures()
else {
  checkQuint()
  checkSpin()
  replay()
  for (const name of failed) console.log(`failed: ${name}`)
  console.log(`${passed} passed, ${failed.length} failed, ${skipped} skipped`)
}
process.exitCode = failed.length > 0 ? 1 : 0

/**
 * @param {string} name
 * @param {boolean} isRight
 * @param {string} seen
 */
function report(name, isRight, seen) {
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}: ${seen}`)
  if (isRight) passed++
  else failed.push(name)
}

/**
 * The first ones with `--quick`, else all.
 * @template T
 * @param {T[]} all
 * @param {number} count
 */
function few(all, count) {
  return settings.isQuick ? all.slice(0, count) : all
}

/** @param {string[]} names */
function skip(...names) {
  for (const name of names) console.log(`skipped: ${name}`)
  skipped += names.length
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
function run(command, args, cwd = folder) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { isThere: error === undefined, status, text: `${stdout}\n${stderr}` }
}

function installQuint() {
  if (!existsSync(quint)) run('npm', ['ci', '--ignore-scripts'], spec)
  return existsSync(quint)
}

/**
 * @param {string} variant
 * @param {string[]} extra
 */
function simulate(variant, ...extra) {
  const { seed, steps } = settings
  // A broken variant ends with its first violation, whatever the seed.
  const runs = broken.includes(variant) ? 5_000 : settings.runs
  return run(
    quint,
    [
      'run',
      'variants.qnt',
      `--main=${variant}`,
      '--backend=typescript',
      '--verbosity=1',
      `--seed=${seed}`,
      `--max-samples=${runs}`,
      `--max-steps=${steps}`,
      '--invariants',
      ...invariants,
      ...extra,
    ],
    spec,
  )
}

function checkQuint() {
  if (!installQuint()) return skip('lease.qnt: Quint could not be installed')
  for (const variant of few(safe, 1)) {
    const { status, text } = simulate(variant, '--witnesses', ...witnesses)
    const unseen = variant === 'sound' ? witnesses.filter((name) => !hasWitness(text, name)) : []
    if (unseen.length > 0) report(`lease.qnt ${variant}`, false, `no run has ${unseen.join(', ')}`)
    else
      report(
        `lease.qnt ${variant}`,
        status === 0,
        status === 0 ? `${settings.runs} runs of ${settings.steps} steps hold` : text,
      )
  }
  for (const variant of few(broken, 2)) {
    const { text } = simulate(variant)
    const caught = invariants.filter((name) => text.includes(`❌ ${name}`))
    const isCaught = text.includes('Invariant violated') && caught.length > 0
    report(
      `lease.qnt ${variant}`,
      isCaught,
      isCaught ? `caught by ${caught.join(', ')}` : `not caught\n${text}`,
    )
  }
}

/**
 * @param {string} text
 * @param {string} name
 */
function hasWitness(text, name) {
  return Number(new RegExp(`${name} was witnessed in (\\d+)`).exec(text)?.[1] ?? 0) > 0
}

function checkSpin() {
  const missing = ['spin', 'gcc'].filter((program) => !run(program, ['--version']).isThere)
  if (missing.length > 0)
    return skip(`lease.pml and presence.pml: ${missing.join(' and ')} not on this machine`)
  for (const flags of few(spinSafe, 1)) mustHold('lease.pml', flags)
  for (const flag of few(spinBroken, 2)) mustFail('lease.pml', flag)
  mustHold('presence.pml', [])
  for (const flag of few(presenceBroken, 2)) mustFail('presence.pml', flag)
  if (settings.isQuick) return
  const live = explore('lease.pml', [], ['-a', '-f'], 'liveness')
  report(
    'lease.pml bounded',
    live.errors === 0,
    live.errors === 0 ? `all ${live.states} states hold` : live.text,
  )
  const { errors, text } = explore('lease.pml', ['WITHOUT_REAPER'], ['-a', '-f'], 'liveness')
  const isCaught = errors > 0 && text.includes('acceptance cycle')
  report('lease.pml bounded WITHOUT_REAPER', isCaught, isCaught ? 'caught by a cycle' : `not caught\n${text}`)
}

/**
 * @param {string} model
 * @param {string[]} flags
 */
function mustHold(model, flags) {
  const { errors, states, text } = explore(model, flags, [], 'assertions')
  const isRight = errors === 0 && !text.includes('max search depth too small')
  report(`${model} ${flags.join(' ') || 'sound'}`, isRight, isRight ? `all ${states} states hold` : text)
}

/**
 * @param {string} model
 * @param {string} flag
 */
function mustFail(model, flag) {
  const { errors, text } = explore(model, [flag], [], 'assertions')
  const assertion = /assertion violated (.*) \(at depth/.exec(text)?.[1]
  const isCaught = errors > 0 && assertion !== undefined
  report(`${model} ${flag}`, isCaught, isCaught ? `caught by ${assertion}` : `not caught\n${text}`)
}

/**
 * Explores all states of the model with these rules removed.
 * @param {string} model
 * @param {string[]} flags
 * @param {string[]} searchOptions
 * @param {'assertions' | 'liveness'} what
 */
function explore(model, flags, searchOptions, what) {
  const defines = flags.map((flag) => `-D${flag}`)
  const compile = what === 'assertions' ? ['-DSAFETY', '-DNOCLAIM'] : ['-DNFAIR=8']
  const steps = [
    run('spin', ['-a', ...defines, `${spec}/${model}`]),
    run('gcc', ['-O2', ...compile, '-o', 'pan', 'pan.c']),
    // A final state in which all processes wait is not a deadlock.
    run('./pan', ['-E', '-m1000000', ...searchOptions]),
  ]
  const text = steps.map((step) => step.text).join('\n')
  return {
    errors: Number(/errors: (\d+)/.exec(text)?.[1] ?? Number.NaN),
    states: Number(/(\d+) states, stored/.exec(text)?.[1] ?? 0),
    text,
  }
}

/** @param {number} count */
function makeTraces(count) {
  simulate('sound', `--n-traces=${count}`, `--out-itf=${folder}/trace-{seq}.itf.json`)
  return readdirSync(folder).filter((file) => file.endsWith('.itf.json'))
}

function replay() {
  if (!installQuint()) return skip('new traces: Quint could not be installed')
  const traces = makeTraces(settings.traces)
  const { UNSTUCK_SPEC_TRACES: _, ...env } = process.env
  const { status, stdout } = spawnSync('npx', ['vitest', 'run', 'test/spec'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...env, UNSTUCK_SPEC_TRACES: folder },
  })
  const isRight = status === 0 && traces.length > 0
  report('replay', isRight, isRight ? `${traces.length} new traces on PostgreSQL` : stdout)
}

/** A few traces that cover every kind of step, reduced to what the replay needs. */
function writeFixtures() {
  if (!installQuint()) return skip('traces: Quint could not be installed')
  const traces = makeTraces(60).map((file) => small(readTrace(file)))
  for (const file of readdirSync(fixtures)) rmSync(`${fixtures}/${file}`)
  const known = new Set()
  for (let index = 1; ; index++) {
    const best = traces.toSorted((a, b) => news(b).length - news(a).length)[0]
    if (best === undefined || news(best).length === 0) return
    for (const step of news(best)) known.add(step)
    writeFileSync(`${fixtures}/trace-${index}.itf.json`, `${JSON.stringify(best)}\n`)
  }

  /** @param {ReturnType<typeof small>} trace */
  function news(trace) {
    const steps = trace.states.map(({ lastStep }) => `${lastStep.verb} ${lastStep.answer}`)
    return [...new Set(steps)].filter((step) => !known.has(step))
  }
}

/** @param {string} file */
function readTrace(file) {
  return /** @type {Trace} */ (JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'), plainNumber))
}

/**
 * @param {string} _key
 * @param {unknown} value
 */
function plainNumber(_key, value) {
  return typeof value === 'object' && value !== null && '#bigint' in value ? Number(value['#bigint']) : value
}

/** @param {Trace} trace */
function small({ states }) {
  return {
    vars: ['lastStep', 'jobs'],
    states: states.map((state) => ({ lastStep: partOf(state, 'lastStep'), jobs: partOf(state, 'jobs') })),
  }
}

/**
 * Variables are named like `sound::lease::jobs`, after the module that started the run.
 * @template {keyof State} Name
 * @param {Record<string, State[Name]>} state
 * @param {Name} name
 */
function partOf(state, name) {
  const found = Object.entries(state).find(([key]) => key.endsWith(`::${name}`))
  if (found === undefined) throw new Error(`the trace has no ${name}`)
  return found[1]
}
