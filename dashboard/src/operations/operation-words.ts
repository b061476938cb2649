// What operations are called, and the commands that do the same.
import type { Operation, OperationAction } from '../../../src/http/contract/index.ts'
import { cliLine } from '../format/cli-line.ts'

interface ActionWords {
  /** On a button. */
  verb: string
  /** Of the jobs that it changed. */
  done: string
  effect: string
}

const BACK = 'Each starts anew with all its attempts. What they did before may be done again.'

export const actionWords: Record<OperationAction, ActionWords> = {
  redrive: { verb: 'Redrive', done: 'brought back', effect: BACK },
  retry: { verb: 'Retry', done: 'brought back', effect: BACK },
  'run-now': { verb: 'Run', done: 'made due', effect: 'Ends their wait. Attempts stay as they are.' },
  cancel: {
    verb: 'Cancel',
    done: 'cancelled',
    effect: 'Waiting jobs end at once, running ones are asked to stop. This cannot be undone.',
  },
  discard: {
    verb: 'Discard',
    done: 'discarded',
    effect: 'They are deleted with their payload and result. This cannot be undone.',
  },
}

const STOPS: Readonly<Record<string, string>> = {
  'canary-failed': 'the canary failed again',
  'canary-timeout': 'the canary did not end in time: does a worker run?',
  'too-many-failures': 'too many failed again',
  'breaker-open': 'the breaker of a queue is open',
  interrupted: 'somebody stopped it',
}

export const showStop = (stopped: string) => STOPS[stopped] ?? stopped.replaceAll('-', ' ')

/** How many have had their turn. */
export const doneOf = ({ changed, refused }: Operation) => changed + refused

export interface OperationLine {
  action: OperationAction
  q: string
  table: string | null
  causeId?: string | null
  expect: number | null
  canary: string
  rate: string
  reason: string
}

export function operationLine(line: OperationLine): string {
  const { action, q, table, causeId, expect, canary, rate, reason } = line
  if (action === 'redrive' && causeId != null) {
    const pace = { canary: canary === '0' ? '' : canary, rate: rate === '' ? '' : `${rate}/s` }
    return cliLine(['dead', 'redrive', causeId], { table, expect, ...pace, reason })
  }
  const isNow = action === 'run-now'
  const verb = action === 'redrive' || isNow ? 'retry' : action
  return cliLine(['jobs', verb], { where: q, now: isNow, table, expect, reason })
}
