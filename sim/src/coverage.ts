// Which faults met jobs at which place of their lives. A cell that could be filled and is empty shows what the runs left out.
import { type FaultKind, faultKinds, workerFaults } from './plan/plan.ts'
import { attemptPlaces, type Place, places } from './world/places.ts'

/** How often, by fault and place. */
export type Coverage = Record<string, number>

/** They meet the jobs that their worker holds; the others meet every job, or the one that an operator names. */
const ofWorker: ReadonlySet<FaultKind> = new Set(workerFaults)
const heldPlaces: ReadonlySet<Place> = new Set([...attemptPlaces, 'expired'])

export const isOfWorker = (kind: FaultKind) => ofWorker.has(kind)

function isPossible(kind: FaultKind, place: Place): boolean {
  return !isOfWorker(kind) || heldPlaces.has(place)
}

export function addCoverage(to: Coverage, from: Coverage): void {
  for (const [cell, count] of Object.entries(from)) to[cell] = (to[cell] ?? 0) + count
}

export const cellOf = (kind: FaultKind, place: Place) => `${kind} ${place}`

/** A table in Markdown: a fault in each line, a place in each column. */
export function coverageTable(coverage: Coverage): string {
  const rows = faultKinds.map((kind) => [
    kind,
    ...places.map((place) =>
      isPossible(kind, place) ? String(coverage[cellOf(kind, place)] ?? '**0**') : '·',
    ),
  ])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(['Fault', ...places]), line(['---', ...places.map(() => '---:')]), ...rows.map(line)].join(
    '\n',
  )
}

export function emptyCells(coverage: Coverage): string[] {
  return faultKinds.flatMap((kind) =>
    places
      .filter((place) => isPossible(kind, place) && coverage[cellOf(kind, place)] === undefined)
      .map((place) => cellOf(kind, place)),
  )
}
