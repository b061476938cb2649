// The results as a Markdown table for docs/reliability.md.
import type { ContenderSummary } from './run-contender.ts'

const columns: [string, (summary: ContenderSummary) => string | number][] = [
  ['Contender', ({ name, version }) => `${name} ${version}`],
  ['Seed', ({ seed }) => seed],
  ['Jobs', ({ jobs }) => jobs],
  ['Finished once', ({ finishedOnce }) => finishedOnce],
  ['Twice', ({ finishedTwice }) => finishedTwice],
  ['Stale writes', ({ staleWrites, lateResults }) => `${staleWrites} of ${lateResults}`],
  ['False reaps (after an outage)', ({ falseReaps, afterOutages }) => `${falseReaps} (${afterOutages})`],
  ['Taken from a blocked process', ({ fromBlocked }) => fromBlocked],
  ['Dead', ({ dead }) => dead],
  ['Stuck', ({ stuckStates }) => showStates(stuckStates)],
  ['Lost', ({ lost }) => lost],
  ['Rescue after a kill: median, slowest', ({ rescues }) => showRescues(rescues)],
  [
    'Interrupted by deploys: attempts burnt',
    ({ deploys }) => `${deploys.interrupted}: ${deploys.attemptsBurnt}`,
  ],
]

export function toTable(summaries: ContenderSummary[]) {
  const toRow = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
  return [
    toRow(columns.map(([title]) => title)),
    toRow(columns.map(() => '---')),
    ...summaries.map((summary) => toRow(columns.map(([, show]) => show(summary)))),
  ].join('\n')
}

function showStates(states: Record<string, number>) {
  const shown = Object.entries(states).map(([state, count]) => `${count} ${state}`)
  return shown.length === 0 ? 0 : shown.join(', ')
}

function showRescues({ count, medianMs, slowestMs, never }: ContenderSummary['rescues']) {
  const toS = (ms: number | null) => (ms === null ? '' : `${(ms / 1_000).toFixed(1)} s`)
  const times = count === 0 ? 'none' : `${toS(medianMs)}, ${toS(slowestMs)} (of ${count})`
  return never === 0 ? times : `${times}; never: ${never}`
}
