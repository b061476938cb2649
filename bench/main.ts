// Runs the benchmark. `npm run bench -- --help` lists the options.

import { runMeasure } from './measure.ts'
import { measures } from './measures/index.ts'
import { runOnNeo4j, startNeo4jBench } from './measures/neo4j/neo4j-bench.ts'
import { belongsTo, type Options, parseOptions } from './options.ts'
import { meterOthers } from './processes/load-meter.ts'
import { describeMachine, packageVersions, riverVersion } from './processes/machine.ts'
import { type Servers, serverSettings, startServers } from './processes/servers.ts'
import { judgeGoals } from './report/goals.ts'
import { type Report, toMarkdown } from './report/report.ts'
import type { MeasureResult } from './report/result.ts'
import { writeDocs, writeResults } from './report/write-results.ts'
import { sizes } from './sizes.ts'

const startedAtMs = performance.now()

function progress(text: string): void {
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
  process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`)
}

/** Writes its results after each measure, so that a run that is interrupted keeps them. */
async function run(options: Options, servers: Servers): Promise<Report> {
  const { size, isQuick, contenders, only, repetitions, out } = options
  const othersCpu = meterOthers()
  const startedAt = `${new Date().toISOString().slice(0, 19)}Z`
  const asked = measures.filter(({ id }) => only === null || only.some((name) => belongsTo(id, name)))
  const bench = { servers, sizes: sizes[size], isQuick, repetitions, contenders, progress, signal }
  const results: MeasureResult[] = []
  const report = (): Report => ({
    startedAt,
    tookS: (performance.now() - startedAtMs) / 1_000,
    size,
    repetitions,
    machine: describeMachine(),
    versions: { ...packageVersions(), River: riverVersion(), ...servers.versions },
    serverSettings,
    missing: servers.missing,
    othersCpu: othersCpu(),
    measures: results,
    goals: judgeGoals(results),
  })
  for (const measure of asked) {
    results.push(await runMeasure(measure, bench))
    writeResults(report(), out)
  }
  return report()
}

let servers: { close(): Promise<void> } | undefined
const interruption = new AbortController()
const { signal } = interruption

/** Stops everything it started, also on a signal. */
function leave(exitCode: number): void {
  if (signal.aborted) return
  interruption.abort()
  progress('interrupted')
  // Connections of the running measure break now, some of them unawaited.
  process.on('uncaughtException', () => {})
  if (servers === undefined) process.exit(exitCode)
  void servers.close().finally(() => process.exit(exitCode))
}

async function runPostgres(options: Options): Promise<Report> {
  progress('starting PostgreSQL and Redis')
  const started = await startServers()
  servers = started
  for (const [name, why] of Object.entries(started.missing)) progress(`${name} is left out: ${why}`)
  return run(options, started)
}

async function runNeo4j({ size, repetitions }: Options): Promise<Report> {
  progress('starting Neo4j')
  const started = await startNeo4jBench({ sizes: sizes[size].neo4j, repetitions, progress, signal })
  servers = started
  return runOnNeo4j(started, size)
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2))
  process.on('SIGINT', () => leave(130))
  process.on('SIGTERM', () => leave(143))
  process.on('disconnect', () => leave(1))
  const report = await (options.store === 'neo4j' ? runNeo4j(options) : runPostgres(options))
  progress(`written: ${writeResults(report, options.out, options.store === 'neo4j' ? '-neo4j' : '')}`)
  if (options.isForDocs) writeDocs(report, options.only === null && options.contenders === null)
  const text = options.isJson ? JSON.stringify(report, null, 2) : toMarkdown(report, () => null)
  process.stdout.write(`${text}\n`)
}

try {
  await main()
  process.exitCode = 0
} catch (error) {
  // An interruption explains the error.
  if (!signal.aborted) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 1
}
if (!signal.aborted) {
  // Nothing is left to interrupt.
  interruption.abort()
  await servers?.close()
  process.disconnect?.()
}
