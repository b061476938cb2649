import { coverageTable, emptyCells } from './coverage.ts'
import type { SeedResult } from './run-seed.ts'
import type { SeedsResult } from './run-seeds.ts'

const print = (text: string) => void process.stdout.write(`${text}\n`)

export interface ResultForm {
  isJson: boolean
  isCovered: boolean
}

export function printResult(result: SeedsResult, { isJson, isCovered }: ResultForm): void {
  if (isJson) return print(JSON.stringify(result))
  const { from, seeds, failed, events, workerHours, cpuSeconds, digest } = result
  for (const { seed, invariants, message } of failed.slice(0, 20))
    print(`seed ${seed}: ${invariants.join(', ')}: ${message}`)
  print(
    `${seeds} seeds from ${from}: ${failed.length} with violations; histories ${digest}; ` +
      `${events} events, ${workerHours.toFixed(1)} worker-hours`,
  )
  if (isCovered) {
    const empty = emptyCells(result.coverage)
    print(coverageTable(result.coverage))
    print(empty.length === 0 ? 'no cell is empty' : `empty: ${empty.join(', ')}`)
  }
  process.stderr.write(
    `${cpuSeconds.toFixed(1)} CPU-seconds, ${(workerHours / cpuSeconds).toFixed(1)} worker-hours per second\n`,
  )
}

/** The history of a run and what was violated; without claims and sweeps that found nothing, unless `isWhole`. */
export function printTimeline({ plan, lines, violations, digest }: SeedResult, isWhole = false): void {
  const { settings, jobs, faults } = plan
  print(
    `seed ${plan.seed} (${settings.flavour}), ${settings.workers} workers × ${settings.concurrency}, ` +
      `lease ${settings.policy.defaultLeaseMs} ms, ${jobs.length} jobs, ${faults.length} faults`,
  )
  const width = Math.max(8, ...lines.map(({ who }) => who.length))
  for (const { atMs, who, what } of isWhole
    ? lines
    : lines.filter(({ what }) => !/: (?:none|nothing)$/.test(what)))
    print(`${(atMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(width)}  ${what}`)
  for (const { invariant, message } of violations) print(`✗ ${invariant}: ${message}`)
  print(`history ${digest}`)
}
