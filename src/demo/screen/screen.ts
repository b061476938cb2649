// The screen as lines of coloured pieces. Pure: the documentation's picture is drawn from it too.
import type { Colour } from '../../cli/terminal/colour.ts'
import { leaseBar } from '../../cli/terminal/lease-bar.ts'
import { type Line, type Piece, wrapText } from '../../cli/terminal/line.ts'

export interface WorkerView {
  name: string
  pid: number
  state: 'starting' | 'ready' | 'frozen' | 'killed'
  stateMs: number
  job: JobView | null
}

export interface JobView {
  n: number
  /** Right side: the remaining lease, and the number of heartbeats. */
  leaseShare?: number
  leaseLeftMs?: number
  beats?: number
  /** Left side: time since the claim. */
  ageMs?: number
}

export interface SideView {
  workers: readonly WorkerView[]
  /** Jobs whose worker is dead. */
  orphans: readonly JobView[]
  totals: string
}

export interface ScreenView {
  database: string
  url: string | null
  /** The settings of the demo, and the defaults. */
  inForce: string
  settings: readonly string[]
  handRolled: SideView
  unstuck: SideView
  /** A notice above both sides. */
  banner: string | null
  playing: string
  log: readonly string[]
  /** Each starts with its key. */
  keys: readonly string[]
}

export const SMALLEST = { width: 80, height: 22 }
/** Time before each line of the log. */
const LOG_INDENT = 11
const SEPARATOR: Piece = [' │ ', 'dim']

interface Layout {
  left: number
  bar: number
  orphans: number
}

/** A worker takes 32 characters of the left side, and 33 of the right one beside its bar. */
function layoutOf({ width, height }: { width: number; height: number }): Layout {
  const left = Math.min(72, Math.max(32, Math.floor(width * 0.4)))
  return {
    left,
    bar: Math.min(40, width - left - 36),
    orphans: Math.min(10, Math.max(3, height - 18)),
  }
}

/** In a terminal too small for two sides, only the last events. */
export function drawScreen(view: ScreenView, size: { width: number; height: number }): Line[] {
  if (size.width < SMALLEST.width || size.height < SMALLEST.height)
    return view.log.slice(-size.height).map((line) => [line])
  const layout = layoutOf(size)
  const head: Line[] = [
    [
      ' ',
      ['unstuck demo', 'bold'],
      ` · ${view.database} · `,
      view.url === null ? 'no dashboard' : [view.url, 'bold'],
    ],
    ...view.settings.map((line): Line => [['   '.concat(line), 'dim']]),
    [],
    besides([["  HAND-ROLLED  'processing'", 'bold']], [[`UNSTUCK  ${view.inForce}`, 'bold']], layout),
  ]
  const left = drawSide(view.handRolled, drawHandRolledJob, layout)
  const right = drawSide(view.unstuck, (job) => drawLeasedJob(job, layout.bar), layout)
  const rows = left.map((line, index) => besides(['  ', ...line], right[index] ?? [], layout))
  const totals = besides(['  ', [view.handRolled.totals, 'bold']], [[view.unstuck.totals, 'bold']], layout)
  const foot: Line[] = [
    view.banner === null ? [] : ['  ', [` ${view.banner} `, 'inverse']],
    ['  ', [view.playing === '' ? '' : `▶ ${view.playing}`, 'yellow']],
  ]
  const keys: Line = [
    '  ',
    [view.keys.map((key) => `[${key.slice(0, 1).toUpperCase()}]${key.slice(1)}`).join('  '), 'dim'],
  ]
  const above = [...head, ...rows, totals, ...foot]
  const room = Math.max(0, size.height - above.length - 1)
  const log = view.log
    .slice(-room)
    .flatMap((line) => wrapText(`  ${line}`, size.width, LOG_INDENT))
    .slice(-room)
    .map((line): Line => [[line, 'dim']])
  return [...above, ...log, ...Array.from({ length: room - log.length }, (): Line => []), keys]
}

function drawSide(
  { workers, orphans }: SideView,
  drawJob: (job: JobView) => Piece[],
  { orphans: shownOrphans }: Layout,
): Line[] {
  const shown = orphans.slice(0, shownOrphans)
  const more = orphans.length - shown.length
  const rest: Line[] = [
    ...shown.map((job): Line => ['   ', ...drawJob(job)]),
    ...(more > 0 ? [[`   and ${more} more`] satisfies Line] : []),
  ]
  const blank = Array.from({ length: shownOrphans + 1 - rest.length }, (): Line => [])
  return [...workers.map((worker) => drawWorker(worker, drawJob)), ...rest, ...blank]
}

const STATES: Record<WorkerView['state'], [mark: string, colour: Colour]> = {
  starting: ['· starting', 'dim'],
  ready: ['', 'green'],
  frozen: ['❄ frozen', 'yellow'],
  killed: ['✕ killed', 'red'],
}

function drawWorker(
  { name, pid, state, stateMs, job }: WorkerView,
  drawJob: (job: JobView) => Piece[],
): Line {
  const head = `${name} ${String(pid).padEnd(7)} `
  const [mark, colour] = STATES[state]
  const since = state === 'killed' || state === 'frozen' ? ` ${(stateMs / 1000).toFixed(1)} s ago` : ''
  if (state === 'ready') return [head, ...(job === null ? [['idle', 'dim'] satisfies Piece] : drawJob(job))]
  return [head, [`${mark}${since}`, colour]]
}

function drawHandRolledJob({ n, ageMs = 0 }: JobView): Piece[] {
  const isStuck = ageMs > STUCK_MS
  const text = `job ${String(n).padEnd(3)} ${clock(ageMs)}`
  return isStuck ? [`${text}  `, ['stuck', 'red']] : [text]
}

const MOST_HEARTS = 6

/** Longer than any job of the demo. */
const STUCK_MS = 6_000

function drawLeasedJob(
  { n, leaseShare = 0, leaseLeftMs = 0, beats = 0 }: JobView,
  barWidth: number,
): Piece[] {
  return [
    `job ${String(n).padEnd(3)} `,
    leaseBar(leaseShare, barWidth),
    ` ${(Math.max(0, leaseLeftMs) / 1000).toFixed(1)}s  `,
    ['♥'.repeat(Math.min(beats, MOST_HEARTS)), 'red'],
  ]
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const pad = (part: number) => String(part).padStart(2, '0')
  return `${pad(Math.floor(seconds / 60))}:${pad(seconds % 60)}`
}

function besides(left: Line, right: Line, { left: leftWidth }: Layout): Line {
  const width = left.reduce((sum, piece) => sum + Array.from(textOf(piece)).length, 0)
  return [...left, ' '.repeat(Math.max(0, leftWidth - width)), SEPARATOR, ...right]
}

const textOf = (piece: Piece) => (typeof piece === 'string' ? piece : piece[0])
