// One run as JSON and as Markdown.

import type { Machine } from '../processes/machine.ts'
import type { SizeName } from '../sizes.ts'
import type { Goal } from './goals.ts'
import type { Column, MeasureResult, Row } from './result.ts'
import type { Spread } from './statistics.ts'

export interface Report {
  /** ISO, to the second. */
  startedAt: string
  tookS: number
  size: SizeName
  repetitions: number
  machine: Machine
  versions: Record<string, string>
  /** Default: PostgreSQL. */
  serverName?: string
  serverSettings: string
  /** Missing servers, and why. */
  missing: Record<string, string>
  /** Cores used by other processes over the whole run. */
  othersCpu: number | null
  measures: MeasureResult[]
  goals: Goal[]
}

/** `graphOf` returns the address of a measure's graph, if it has one. */
export function toMarkdown(report: Report, graphOf: (measureId: string) => string | null): string {
  return [
    facts(report),
    ...(report.goals.some(({ value }) => value !== null) ? [goalTable(report.goals)] : []),
    ...report.measures.map((measure) => section(measure, graphOf(measure.id))),
    ...settingsTable(report.measures),
  ].join('\n\n')
}

function facts({ startedAt, tookS, size, repetitions, machine, versions, ...report }: Report): string {
  const { cpu, cores, memoryGb, system } = machine
  const others = report.othersCpu === null ? 'unknown' : `${report.othersCpu.toFixed(2)} cores`
  const rows: [string, string][] = [
    [
      'Run',
      `${startedAt}, ${Math.round(tookS / 60)} min, size ${size}, ${repetitions} interleaved repetitions`,
    ],
    ['Machine', `${cores} cores (${cpu}), ${memoryGb} GiB, ${system}`],
    ['Others’ CPU', `${others} on average: what processes that are no part of the bench used meanwhile`],
    [
      'Versions',
      Object.entries(versions)
        .map((pair) => pair.join(' '))
        .join(', '),
    ],
    [report.serverName ?? 'PostgreSQL', report.serverSettings],
    ...Object.entries(report.missing).map(([name, why]): [string, string] => [`Left out: ${name}`, why]),
  ]
  return table(['', ''], rows)
}

function goalTable(goals: Goal[]): string {
  const rows = goals.map(({ work, wanted, stretch, isAtLeast, value, isReached }) => {
    const aim = (bound: number) => `${isAtLeast ? '≥' : '≤'} ${bound.toLocaleString('en')}`
    const isStretched =
      stretch !== null && value !== null && (isAtLeast ? value >= stretch : value <= stretch)
    return [
      work,
      aim(wanted),
      value === null ? '–' : showRatio(value),
      isReached === null
        ? 'not measured'
        : isReached
          ? 'reached'
          : `missed by ${missedBy(value ?? 0, wanted)}`,
      stretch === null ? '' : `${aim(stretch)}${isStretched ? ' ✓' : ''}`,
    ]
  })
  return `### Goals\n\n${table(['Work', 'Wanted', 'Measured', '', 'Stretch'], rows)}`
}

const showRatio = (value: number) => (value >= 1_000 ? show(value, 0) : show(value, value >= 100 ? 0 : 2))

function missedBy(value: number, wanted: number): string {
  return `${Math.round((Math.abs(value - wanted) / wanted) * 100)} %`
}

function section(measure: MeasureResult, graph: string | null): string {
  const { title, method, columns, rows, isUpright, notes = [] } = measure
  const done = rows.filter(({ problem }) => problem === null)
  const leftOut = rows.filter(({ problem }) => problem !== null)
  const body = isUpright === true ? uprightTable(columns, done) : flatTable(columns, done)
  return [
    `### ${title}`,
    `${method} Median (min–max).`,
    ...(done.length === 0 ? [] : [body]),
    ...(graph === null ? [] : [`![${title}](${graph})`]),
    ...notes,
    ...leftOut.map(({ name, problem }) => `Left out: ${name}: ${problem}`),
  ].join('\n\n')
}

/** Each contender once, or once more if it has other settings in some measures. */
function settingsTable(measures: MeasureResult[]): string[] {
  const used = measures
    .flatMap(({ rows }) => rows)
    .flatMap(({ name, settings }) => (settings === null ? [] : [[name, settings]]))
  const rows = [...new Map(used.map((row) => [row.join(), row])).values()]
  return rows.length === 0 ? [] : [`### Settings\n\n${table(['', ''], rows)}`]
}

function flatTable(columns: Column[], rows: Row[]): string {
  return table(
    ['', ...columns.map(({ title }) => title), 'others’ CPU'],
    rows.map(({ name, values, othersCpu }) => [
      name,
      ...columns.map(({ key, digits }) => showSpread(values[key], digits)),
      othersCpu === null ? '–' : show(othersCpu.median, 1),
    ]),
  )
}

function uprightTable(columns: Column[], rows: Row[]): string {
  return table(
    ['', ...rows.map(({ name }) => name)],
    columns.map(({ key, title, digits }) => [
      title,
      ...rows.map(({ values }) => showSpread(values[key], digits)),
    ]),
  )
}

function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

function showSpread(spread: Spread | undefined, digits = 0): string {
  if (spread === undefined || !Number.isFinite(spread.median)) return '–'
  const { median, min, max } = spread
  return min === max
    ? show(median, digits)
    : `${show(median, digits)} (${show(min, digits)}–${show(max, digits)})`
}

export function show(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
