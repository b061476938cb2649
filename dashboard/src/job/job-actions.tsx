import { useState } from 'react'
import type { Job, JobAnswer } from '../../../src/http/contract/index.ts'
import { cancelJob, discardJob, retryJob, useCommand } from '../api/commands.ts'
import { databaseNowMs } from '../api/database-clock.ts'
import { cliLine } from '../format/cli-line.ts'
import { useKey } from '../shell/shortcuts.tsx'
import { Button } from '../ui/button.tsx'
import { ChangeDialog } from '../ui/change-dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

type JobAction = 'retry' | 'now' | 'cancel' | 'discard'

const WORDS: Record<JobAction, { title: string; verb: string; effect: string; done: string }> = {
  retry: {
    title: 'Retry this job',
    verb: 'Retry',
    effect: 'Starts a new generation with all attempts. Side effects may repeat.',
    done: 'Retried.',
  },
  now: {
    title: 'Run this job now',
    verb: 'Run now',
    effect: 'Makes the job due now. Attempts do not change.',
    done: 'It is due now.',
  },
  cancel: {
    title: 'Cancel this job',
    verb: 'Cancel the job',
    effect:
      'A waiting job is cancelled at once. A running one stops at its worker’s next heartbeat at the latest.',
    done: 'Cancelled, or asked to stop.',
  },
  discard: {
    title: 'Discard this job',
    verb: 'Discard the job',
    effect: 'Deletes the job with its payload and result; an event is kept. This cannot be undone.',
    done: 'Discarded.',
  },
}

export function JobActions({ answer: { job, retry } }: { answer: JobAnswer }) {
  const [action, setAction] = useState<JobAction | null>(null)
  const refusal = useRefusal()
  const isEnded = job.status !== 'waiting' && job.status !== 'running'
  const retryRefusal =
    refusal('retryJob') ?? (retry.is_allowed ? null : (retry.reason ?? 'It cannot be retried.'))
  const command = useCommand(({ kind, reason }: { kind: JobAction; reason: string }) => {
    const options = { reason }
    if (kind === 'retry') return retryJob(job, options)
    if (kind === 'now') return retryJob(job, { ...options, now: true })
    return kind === 'cancel' ? cancelJob(job, options) : discardJob(job, options)
  })
  useKey('r', () => {
    if (retryRefusal === null && job.status === 'dead') setAction('retry')
  })
  return (
    <>
      {job.status === 'dead' ? (
        <Button refusal={retryRefusal} onClick={() => setAction('retry')}>
          Retry
        </Button>
      ) : null}
      {job.status === 'waiting' ? (
        <Button refusal={refusal('retryJob') ?? dueRefusal(job)} onClick={() => setAction('now')}>
          Run now
        </Button>
      ) : null}
      {isEnded ? null : (
        <Button refusal={refusal('cancelJob')} onClick={() => setAction('cancel')}>
          Cancel
        </Button>
      )}
      {job.status === 'dead' ? (
        <Button refusal={refusal('discardJob')} onClick={() => setAction('discard')}>
          Discard
        </Button>
      ) : null}
      {job.status === 'dead' && retryRefusal !== null ? (
        <p className="basis-full text-right text-xs text-soft">{retryRefusal}</p>
      ) : null}
      {action === null ? null : (
        <ChangeDialog
          {...WORDS[action]}
          isDanger={action === 'discard' || action === 'cancel'}
          cli={({ reason }) => lineOf(action, job.id, reason)}
          close={() => setAction(null)}
          run={async ({ reason }) => {
            const { next } = await command.mutateAsync({ kind: action, reason })
            say(next === null ? WORDS[action].done : `${WORDS[action].done} ${next}`)
          }}
        />
      )}
    </>
  )
}

/** It is due already: only its cause can be ended, and that stands above with its act. */
function dueRefusal({ run_at, created_at }: Job): string | null {
  const now = databaseNowMs()
  const isDue = now !== null && Date.parse(run_at ?? created_at) <= now
  return isDue ? 'It is due already: see why it is not running.' : null
}

function lineOf(action: JobAction, id: string, reason: string): string {
  const verb = action === 'now' ? 'retry' : action
  return cliLine(['jobs', verb, id], { now: action === 'now', yes: action === 'discard', reason })
}
