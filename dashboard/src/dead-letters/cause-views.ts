// Causes of dead letters by state.
import type { CauseState, DeadLetterGroup } from '../../../src/http/contract/index.ts'

export const causeStates = ['new', 'investigating', 'resolved', 'ignored'] as const satisfies CauseState[]

/** `open`: new, investigating, or back after it was resolved. */
export type CauseView = CauseState | 'open' | 'all'

export const causeViews: readonly CauseView[] = ['open', ...causeStates, 'all']

export function isInView({ state, back_since }: DeadLetterGroup, view: CauseView): boolean {
  if (view === 'all') return true
  if (view === 'open') return state === 'new' || state === 'investigating' || isBack({ state, back_since })
  return state === view
}

export const isBack = ({ state, back_since }: Pick<DeadLetterGroup, 'state' | 'back_since'>) =>
  state === 'resolved' && back_since !== null

/** The view in the address. Default: open. */
export const viewOf = (text: string | null): CauseView => causeViews.find((view) => view === text) ?? 'open'
