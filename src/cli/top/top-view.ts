// Key handling. Pure: returns the next view and the action.
import type { Line } from '../terminal/line.ts'
import type { TopRow } from './top-rows.ts'

export interface TopView {
  /** Key of the selected row. */
  chosen: string | null
  filter: string
  isTyping: boolean
  /** Shown instead of the rows: a job, or why it does not run. */
  panel: Line[] | null
  ask: { question: string; action: TopAction } | null
  message: string | null
  /** Since the snapshot was read. */
  elapsedMs: number
}

export type TopAction = { kind: 'quit' } | { kind: 'show' | 'why' | 'retry' | 'drain'; row: TopRow }

export const firstView: TopView = {
  chosen: null,
  filter: '',
  isTyping: false,
  panel: null,
  ask: null,
  message: null,
  elapsedMs: 0,
}

interface AfterKey {
  view: TopView
  action: TopAction | null
}

export function pressKey(view: TopView, key: string, rows: TopRow[]): AfterKey {
  const stay = (change: Partial<TopView>): AfterKey => ({
    view: { ...view, message: null, ...change },
    action: null,
  })
  if (key === 'ctrl-c') return { view, action: { kind: 'quit' } }
  if (view.ask !== null) {
    const { action } = view.ask
    return key === 'y'
      ? { view: { ...view, ask: null }, action }
      : stay({ ask: null, message: 'nothing was changed' })
  }
  if (view.isTyping) return stay(typed(view, key))
  if (key === 'up' || key === 'k') return stay({ chosen: neighbour(view, rows, -1), panel: null })
  if (key === 'down' || key === 'j') return stay({ chosen: neighbour(view, rows, 1), panel: null })
  if (key === 'escape') return stay(view.panel === null ? { filter: '' } : { panel: null })
  if (key === '/') return stay({ isTyping: true, panel: null })
  if (key === 'q') return { view, action: { kind: 'quit' } }
  const row = rows.find((one) => one.key === view.chosen)
  return row === undefined ? stay({}) : pressOnRow(view, key, row, stay)
}

function pressOnRow(
  view: TopView,
  key: string,
  row: TopRow,
  stay: (change: Partial<TopView>) => AfterKey,
): AfterKey {
  const { jobId, workerId, kind } = row
  if (key === 'enter' || key === 'w') {
    if (jobId === null) return stay({ message: 'this is a worker: D drains it' })
    return { view: { ...view, message: null }, action: { kind: key === 'w' ? 'why' : 'show', row } }
  }
  if (key === 'R') {
    if (kind !== 'dead') return stay({ message: 'only a dead job can be retried' })
    return stay({ ask: { question: `Retry job ${jobId ?? ''}?`, action: { kind: 'retry', row } } })
  }
  if (key === 'D') {
    if (workerId === null) return stay({ message: 'no worker runs this job' })
    return stay({
      ask: {
        question: `Drain worker ${workerId}? It finishes its running jobs and stops.`,
        action: { kind: 'drain', row },
      },
    })
  }
  return stay({})
}

function typed({ filter }: TopView, key: string): Partial<TopView> {
  if (key === 'enter') return { isTyping: false }
  if (key === 'escape') return { isTyping: false, filter: '' }
  if (key === 'backspace') return { filter: Array.from(filter).slice(0, -1).join('') }
  return Array.from(key).length === 1 && !/\p{Cc}/u.test(key) ? { filter: filter + key } : {}
}

function neighbour({ chosen }: TopView, rows: TopRow[], step: 1 | -1): string | null {
  const at = rows.findIndex(({ key }) => key === chosen)
  const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))
  return rows[next]?.key ?? null
}
