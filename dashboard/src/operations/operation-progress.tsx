import type { Operation } from '../../../src/http/contract/index.ts'
import { messageOf } from '../api/client.ts'
import { abortOperation, useCommand } from '../api/commands.ts'
import { plural, showCount } from '../format/show-time.ts'
import { Go } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { barOf, type Tone } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { actionWords, doneOf, showStop } from './operation-words.ts'

const TONES: Record<Operation['state'], Tone> = {
  planned: 'quiet',
  running: 'info',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
}

export const operationPath = (id: string) => `/operations/${encodeURIComponent(id)}`

/** One operation in a list: action, progress, actor. */
export function OperationLine({ operation }: { operation: Operation }) {
  return (
    <li className="grid items-center gap-x-4 gap-y-1 py-3 md:grid-cols-[1fr_auto]">
      <div className="flex min-w-0 flex-col gap-1.5">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={TONES[operation.state]}>{operation.state}</Badge>
          <Go to={operationPath(operation.id)} className="link font-semibold">
            {actionWords[operation.action].verb} {plural(operation.total, 'job')}
          </Go>
          <code className="truncate font-mono text-xs text-soft">{operation.q}</code>
          <span className="text-xs text-soft md:ml-auto">
            <Time at={operation.began_at} isRelative />
          </span>
        </p>
        <ProgressBar operation={operation} />
        <p className="text-xs text-soft">
          {countsOf(operation)} · by {operation.actor}
          {operation.reason === null ? '' : `: “${operation.reason}”`}
        </p>
      </div>
      <StopOperation operation={operation} />
    </li>
  )
}

export function ProgressBar({ operation }: { operation: Operation }) {
  const share = operation.total === 0 ? 1 : doneOf(operation) / operation.total
  return (
    <div
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className="h-2 w-full overflow-hidden rounded-full bg-raised"
    >
      <div
        className={`h-full rounded-full ${barOf[TONES[operation.state]]}`}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  )
}

/** `20 of 41 retried, 3 refused; stopped: the canary failed again` */
export function countsOf(operation: Operation): string {
  const { action, phase, state, total, changed, refused, succeeded, failed, stopped } = operation
  const watched = succeeded + failed
  const isBack = action === 'redrive' || action === 'retry'
  return [
    `${showCount(changed)} of ${showCount(total)} ${actionWords[action].done}`,
    refused === 0 ? '' : `, ${showCount(refused)} refused`,
    endsOf(operation),
    state === 'running' && phase === 'canary' ? '; testing the canary' : '',
    isBack && watched > 0 && phase === 'canary'
      ? ` (${state === 'running' ? '' : 'canary: '}${showCount(succeeded)} succeeded, ${showCount(failed)} failed)`
      : '',
    stopped === null ? '' : `; stopped: ${showStop(stopped)}`,
  ].join('')
}

/** Where its jobs are now: `: 186 succeeded, 4 dead again, 10 waiting`. Only a single operation knows it. */
function endsOf({ action, ends }: Operation): string {
  if (ends === undefined || action === 'cancel' || action === 'discard') return ''
  const { succeeded, dead, cancelled, waiting, running, deleted, is_complete } = ends
  const parts = [
    [succeeded, 'succeeded'],
    [dead, 'dead again'],
    [cancelled, 'cancelled'],
    [running, 'running'],
    [waiting, 'waiting'],
    [deleted, 'deleted since'],
  ] as const
  const shown = parts.filter(([count]) => count > 0).map(([count, word]) => `${showCount(count)} ${word}`)
  if (shown.length === 0) return ''
  return `${is_complete ? ': ' : '; of the first 10,000: '}${shown.join(', ')}`
}

export function StopOperation({ operation }: { operation: Operation }) {
  const refusal = useRefusal()
  const abort = useCommand(abortOperation)
  if (operation.state !== 'running') return null
  return (
    <Button
      kind="danger"
      label={`Stop: ${actionWords[operation.action].verb} ${plural(operation.total, 'job')}`}
      refusal={refusal('abortOperation')}
      isBusy={abort.isPending}
      onClick={() =>
        abort.mutate(operation.id, {
          onSuccess: () => say('Stopped. Changed jobs stay changed.'),
          onError: (error) => say(messageOf(error), { isBad: true }),
        })
      }
    >
      Stop
    </Button>
  )
}
