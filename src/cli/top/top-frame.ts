// One frame of `unstuck top` from a snapshot. Pure: the same for a terminal, a pipe and a test.
import { showCount } from '../../policy/explain/show-count.ts'
import { isPromiseKept, isReaperLate } from '../../policy/explain/table-health.ts'
import type { Slo } from '../../store/job-store.ts'
import { hiddenLine } from '../connection/hidden-tables.ts'
import { describeBreaker } from '../queues/breaker.ts'
import { showBound, showDuration } from '../terminal/duration.ts'
import type { Line, Piece } from '../terminal/line.ts'
import type { Snapshot } from './read-snapshot.ts'
import type { TopRow } from './top-rows.ts'
import type { TopView } from './top-view.ts'

export interface FrameSize {
  width: number
  height: number
}

const MIN_WIDTH = 50
const MIN_HEIGHT = 10
const KEYS = '↑↓ j k select  Enter job  w why  / filter  R retry  D drain  q quit'

/** For a terminal: the rows that fit, around the selected one. */
export function topFrame(snapshot: Snapshot, rows: TopRow[], view: TopView, size: FrameSize): Line[] {
  if (size.width < MIN_WIDTH || size.height < MIN_HEIGHT)
    return [[`too small: ${size.width}×${size.height}; needs ${MIN_WIDTH}×${MIN_HEIGHT}. q quits`]]
  const head = headOf(snapshot)
  const foot: Line[] = [[], [[footOf(view), view.ask === null ? 'dim' : 'yellow']]]
  const room = size.height - head.length - foot.length
  const body = view.panel ?? bodyOf(snapshot, rows, view)
  const chosen = view.panel === null ? body.findIndex((line) => line[0] === MARK) : 0
  const from = Math.max(0, Math.min(chosen - Math.floor(room / 2), body.length - room))
  const shown = body.slice(from, from + room)
  const filled: Line[] = [...shown, ...Array.from({ length: room - shown.length }, (): Line => [])]
  return [...head, ...filled, ...foot]
}

/** For a pipe or a file: everything once. */
export function plainFrame(snapshot: Snapshot, rows: TopRow[], view: TopView): Line[] {
  return [...headOf(snapshot), ...bodyOf(snapshot, rows, { ...view, chosen: null })]
}

function headOf({ now, health, slo, breakers }: Snapshot): Line[] {
  const strips = health.flatMap(({ table, value }): Line[] => {
    const { overdue, reaperAgeMs, sweepIntervalMs, oldestDueMs, running, due } = value
    const rescue = slo.find((one) => one.table === table)?.value
    const isSwept = !isReaperLate(reaperAgeMs, sweepIntervalMs)
    const swept = reaperAgeMs === null ? 'never swept' : `swept ${showDuration(reaperAgeMs)} ago`
    const oldest = oldestDueMs === null ? '' : `, oldest for ${showDuration(oldestDueMs)}`
    return [
      ...(value.hidden === null ? [] : [[[hiddenLine(value.hidden), 'red'] as Piece]]),
      ...(value.silentShards ?? []).map(
        (shard): Line => [[`✗ ${shard} does not answer: its jobs are missing here`, 'red']],
      ),
      [
        light(overdue === 0, !value.isHealthy, `${showCount(value, 'overdue')} past their lease`),
        // As `status` says: nobody has to sweep a table without work.
        isSwept || running + due > 0 ? light(isSwept, true, swept) : `○ ${swept}  `,
        ...rescuePieces(rescue),
      ],
      [
        [`  ${table}`, 'bold'],
        `  waiting ${showCount(value, 'waiting')} (due ${showCount(value, 'due')}${oldest})`,
        `  running ${showCount(value, 'running')}`,
      ],
    ]
  })
  const open = breakers.filter(({ state }) => state !== 'closed')
  return [...strips, ...open.map((breaker): Line => [[`◐ ${describeBreaker(breaker, now)}`, 'yellow']]), []]
}

function rescuePieces(slo: Slo | undefined): Piece[] {
  if (slo === undefined) return []
  const { p95Ms, promiseMs, rescued, inTime } = slo
  const promise = `promise ≤ ${showBound(promiseMs)}`
  if (p95Ms === null) return [`● no rescue completed in 24 h, ${promise}  `]
  const late = rescued === inTime ? '' : `, ${rescued - inTime} of ${rescued} late`
  return [light(isPromiseKept(slo), false, `rescue p95 ${showDuration(p95Ms)}${late}, ${promise}`)]
}

/** The symbol repeats the colour. */
function light(isFine: boolean, isBad: boolean, text: string): Piece {
  if (isFine) return [`● ${text}  `, 'green']
  return [`${isBad ? '✗' : '!'} ${text}  `, isBad ? 'red' : 'yellow']
}

const MARK = '▸ '
const titles = { running: 'RUNNING', dead: 'DEAD, newest', worker: 'WORKERS' }
const empty = {
  running: 'no running jobs',
  dead: 'none',
  worker: 'no worker has reported: unstuck worker ./handlers.js',
}

function bodyOf(
  snapshot: Snapshot,
  rows: TopRow[],
  view: Pick<TopView, 'chosen' | 'filter' | 'elapsedMs'>,
): Line[] {
  return (['running', 'dead', 'worker'] as const).flatMap((kind) => {
    const ofKind = rows.filter((row) => row.kind === kind)
    const more = kind === 'running' && !snapshot.isComplete ? ' or more' : ''
    const title: Line = [[`${titles[kind]} ${ofKind.length}${more}`, 'bold']]
    const none: Line[] = ofKind.length === 0 ? [[`  ${view.filter === '' ? empty[kind] : 'no match'}`]] : []
    const lines = ofKind.map(
      (row): Line => [row.key === view.chosen ? MARK : '  ', ...row.line(view.elapsedMs)],
    )
    return [title, ...lines, ...none, []]
  })
}

function footOf({ ask, isTyping, filter, message, panel }: TopView): string {
  if (ask !== null) return `${ask.question} [y/N]`
  if (isTyping) return `/${filter}▏  Enter applies, Esc clears`
  if (message !== null) return message
  if (panel !== null) return 'Esc back  ↑↓ select  q quit'
  return filter === '' ? KEYS : `filter "${filter}"  ${KEYS}`
}
