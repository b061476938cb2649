import type { Queue } from '../../../src/http/contract/index.ts'

/** Nothing is claimed from it, or one job at a time: it is paused, or its breaker is not closed. */
export const isHeld = ({ is_paused, breaker_state }: Queue) =>
  is_paused || (breaker_state ?? 'closed') !== 'closed'
