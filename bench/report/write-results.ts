// Writes <date>.md, .json and the graphs of a run, and with --docs the marked section of the documentation page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawChart } from './chart.ts'
import { mergeSections } from './merge-sections.ts'
import { type Report, toMarkdown } from './report.ts'
import type { MeasureResult } from './result.ts'

const page = new URL('../../docs/performance.md', import.meta.url)
const images = new URL('../../docs/images/bench/', import.meta.url)
const MARKS = /(<!-- results of npm run bench -->\n)([\s\S]*)(\n<!-- end of the results -->)/

/** Returns the path of the Markdown file. */
export function writeResults(report: Report, folder: string, suffix = ''): string {
  mkdirSync(folder, { recursive: true })
  const name = report.startedAt.slice(0, 16).replace('T', '-').replace(':', '') + suffix
  const graphs = graphsOf(report)
  for (const [id, svg] of graphs) writeFileSync(join(folder, `${name}-${id}.svg`), svg)
  const path = join(folder, `${name}.md`)
  const body = toMarkdown(report, (id) => (graphs.has(id) ? `${name}-${id}.svg` : null))
  writeFileSync(path, `# Benchmark of ${report.startedAt.slice(0, 10)}\n\n${body}\n`)
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report, null, 2)}\n`)
  return path
}

/** A run of all measures replaces all but those without a result; another one only those that it has measured. */
export function writeDocs(report: Report, isWhole: boolean): void {
  const measures = report.measures.filter(({ rows }) => rows.some(({ problem }) => problem === null))
  const fresh = new Set([
    ...measures.map(({ title }) => title),
    ...(isWhole ? ['', 'Goals', 'Settings'] : []),
  ])
  const graphs = graphsOf({ measures })
  for (const [id, svg] of graphs) writeFileSync(new URL(`${id}.svg`, images), svg)
  const shown = isWhole ? report : { ...report, measures: measures.map((measure) => dated(measure, report)) }
  const body = toMarkdown(shown, (id) => (graphs.has(id) ? `images/bench/${id}.svg` : null))
  const before = readFileSync(page, 'utf8')
  if (!MARKS.test(before)) throw new Error('docs/performance.md has lost its marks')
  writeFileSync(
    page,
    before.replace(
      MARKS,
      (_, start: string, published: string, end: string) =>
        `${start}\n${mergeSections(published, body, fresh)}\n${end}`,
    ),
  )
}

/** Beside the results of another run. */
function dated(measure: MeasureResult, { startedAt, size, repetitions, othersCpu }: Report): MeasureResult {
  const others = othersCpu === null ? '' : `, others’ CPU ${othersCpu.toFixed(2)} cores`
  const note = `A run of its own: ${startedAt}, size ${size}, repetitions: ${repetitions}${others}.`
  return { ...measure, notes: [...(measure.notes ?? []), note] }
}

function graphsOf({ measures }: Pick<Report, 'measures'>): Map<string, string> {
  const drawn = measures.map((measure) => [measure.id, drawChart(measure)] as const)
  return new Map(drawn.filter((pair): pair is readonly [string, string] => pair[1] !== null))
}
