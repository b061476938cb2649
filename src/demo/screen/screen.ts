// The screen as lines of coloured pieces. Pure: the documentation's picture is drawn from it too.
import type { Colour } from '../../cli/terminal/colour.ts'
import { leaseBar } from '../../cli/terminal/lease-bar.ts'
import { fitText, type Line, type Piece } from '../../cli/terminal/line.ts'

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
const LEFT_WIDTH = 36
const BAR_WIDTH = 10
const SHOWN_ORPHANS = 3

/** In a terminal too small for two sides, only the last events. */
export function drawScreen(view: ScreenView, size: { width: number; height: number }): Line[] {
  if (size.width < SMALLEST.width || size.height < SMALLEST.height)
    return view.log.slice(-size.height).map((line) => [line])
  const head: Line[] = [
    [
      ' ',
      ['unstuck demo', 'bold'],
      ` · ${view.database} · `,
      view.url === null ? 'no dashboard' : [view.url, 'bold'],
    ],
    ...view.settings.map((line): Line => [['   '.concat(line), 'dim']]),
    [],
    [
      [fitText("  HAND-ROLLED  status='processing'", LEFT_WIDTH), 'bold'],
      [`UNSTUCK  ${view.inForce}`, 'bold'],
    ],
  ]
  const left = drawSide(view.handRolled, drawHandRolledJob)
  const right = drawSide(view.unstuck, drawLeasedJob)
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    besides(left[index] ?? [], right[index] ?? []),
  )
  const totals = besides(['  ', [view.handRolled.totals, 'bold']], [[view.unstuck.totals, 'bold']])
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
  const log = view.log.slice(-room).map((line): Line => [['  '.concat(line), 'dim']])
  return [...above, ...log, ...Array.from({ length: room - log.length }, (): Line => []), keys]
}

function drawSide({ workers, orphans }: SideView, drawJob: (job: JobView) => Piece[]): Line[] {
  const shown = orphans.slice(-SHOWN_ORPHANS)
  const more = orphans.length - shown.length
  const rest: Line[] = [
    ...shown.map((job): Line => ['     ', ...drawJob(job)]),
    ...(more > 0 ? [[`     and ${more} more`] satisfies Line] : []),
  ]
  const blank = Array.from({ length: SHOWN_ORPHANS + 1 - rest.length }, (): Line => [])
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
  const head = `  ${name} ${String(pid).padEnd(7)} `
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

/** Longer than any job of the demo. */
const STUCK_MS = 6_000

function drawLeasedJob({ n, leaseShare = 0, leaseLeftMs = 0, beats = 0 }: JobView): Piece[] {
  return [
    `job ${String(n).padEnd(3)} `,
    leaseBar(leaseShare, BAR_WIDTH),
    ` ${(Math.max(0, leaseLeftMs) / 1000).toFixed(1)}s  `,
    ['♥'.repeat(beats), 'red'],
  ]
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const pad = (part: number) => String(part).padStart(2, '0')
  return `${pad(Math.floor(seconds / 60))}:${pad(seconds % 60)}`
}

function besides(left: Line, right: Line): Line {
  const width = left.reduce((sum, piece) => sum + Array.from(textOf(piece)).length, 0)
  return [...left, ' '.repeat(Math.max(1, LEFT_WIDTH - width)), ...right]
}

const textOf = (piece: Piece) => (typeof piece === 'string' ? piece : piece[0])
