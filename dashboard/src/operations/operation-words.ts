// Labels of operations, and the equivalent commands.
import type { Operation, OperationAction } from '../../../src/http/contract/index.ts'
import { cliLine } from '../format/cli-line.ts'

interface ActionWords {
  /** Button label. */
  verb: string
  /** Describes the changed jobs. */
  done: string
  effect: string
}

const BACK = 'Each starts over with all attempts. Side effects may repeat.'

export const actionWords: Record<OperationAction, ActionWords> = {
  redrive: { verb: 'Redrive', done: 'retried', effect: BACK },
  retry: { verb: 'Retry', done: 'retried', effect: BACK },
  'run-now': {
    verb: 'Run',
    done: 'made due',
    effect:
      'Makes them due now. They still wait for paused queues, open breakers and free workers. Attempts do not change.',
  },
  cancel: {
    verb: 'Cancel',
    done: 'cancelled',
    effect:
      'Waiting jobs are cancelled at once; running ones stop at their worker’s next heartbeat at the latest. This cannot be undone.',
  },
  discard: {
    verb: 'Discard',
    done: 'discarded',
    effect: 'Deletes the jobs with their payload and result. This cannot be undone.',
  },
}

const STOPS: Readonly<Record<string, string>> = {
  'canary-failed': 'the canary failed again',
  'canary-timeout': 'the canary did not finish in time: is a worker running?',
  'too-many-failures': 'too many failed again',
  'breaker-open': 'the breaker of a queue is open',
  interrupted: 'stopped manually',
}

export const showStop = (stopped: string) => STOPS[stopped] ?? stopped.replaceAll('-', ' ')

/** Number of processed jobs. */
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
