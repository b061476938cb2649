import { useState } from 'react'
import type { JobAnswer } from '../../../src/http/contract/index.ts'
import { cancelJob, discardJob, retryJob, useCommand } from '../api/commands.ts'
import { cliLine } from '../format/cli-line.ts'
import { useKey } from '../shell/shortcuts.tsx'
import { Button } from '../ui/button.tsx'
import { ActDialog } from '../ui/change-dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

type Act = 'retry' | 'now' | 'cancel' | 'discard'

const WORDS: Record<Act, { title: string; verb: string; effect: string; done: string }> = {
  retry: {
    title: 'Retry this job',
    verb: 'Retry',
    effect: 'It starts anew: a new generation, with all its attempts. What it did before may be done again.',
    done: 'It waits for a worker again.',
  },
  now: {
    title: 'Run it now',
    verb: 'Run now',
    effect: 'Ends its wait. Attempts stay as they are.',
    done: 'It is due now.',
  },
  cancel: {
    title: 'Cancel this job',
    verb: 'Cancel the job',
    effect:
      'A waiting job ends at once. A running one is asked to stop, and stops when its worker hears of it.',
    done: 'Cancelled, or asked to stop.',
  },
  discard: {
    title: 'Discard this job',
    verb: 'Discard the job',
    effect: 'It is deleted, with its payload and result; one event tells of it. This cannot be undone.',
    done: 'Discarded.',
  },
}

export function JobActions({ answer: { job, retry } }: { answer: JobAnswer }) {
  const [act, setAct] = useState<Act | null>(null)
  const refusal = useRefusal()
  const isEnded = job.status !== 'waiting' && job.status !== 'running'
  const retryRefusal =
    refusal('retryJob') ?? (retry.is_allowed ? null : (retry.reason ?? 'It cannot be retried.'))
  const command = useCommand(({ kind, reason }: { kind: Act; reason: string }) => {
    const options = { reason }
    if (kind === 'retry') return retryJob(job, options)
    if (kind === 'now') return retryJob(job, { ...options, now: true })
    return kind === 'cancel' ? cancelJob(job, options) : discardJob(job, options)
  })
  useKey('r', () => {
    if (retryRefusal === null && job.status === 'dead') setAct('retry')
  })
  return (
    <>
      {job.status === 'dead' ? (
        <Button kind="main" refusal={retryRefusal} onClick={() => setAct('retry')}>
          Retry
        </Button>
      ) : null}
      {job.status === 'waiting' ? (
        <Button refusal={refusal('retryJob')} onClick={() => setAct('now')}>
          Run now
        </Button>
      ) : null}
      {isEnded ? null : (
        <Button refusal={refusal('cancelJob')} onClick={() => setAct('cancel')}>
          Cancel
        </Button>
      )}
      {job.status === 'dead' ? (
        <Button refusal={refusal('discardJob')} onClick={() => setAct('discard')}>
          Discard
        </Button>
      ) : null}
      {job.status === 'dead' && retryRefusal !== null ? (
        <p className="basis-full text-right text-xs text-soft">{retryRefusal}</p>
      ) : null}
      {act === null ? null : (
        <ActDialog
          {...WORDS[act]}
          isDanger={act === 'discard' || act === 'cancel'}
          cli={({ reason }) => lineOf(act, job.id, reason)}
          close={() => setAct(null)}
          run={async ({ reason }) => {
            await command.mutateAsync({ kind: act, reason })
            say(WORDS[act].done)
          }}
        />
      )}
    </>
  )
}

function lineOf(act: Act, id: string, reason: string): string {
  const verb = act === 'now' ? 'retry' : act
  return cliLine(['jobs', verb, id], { now: act === 'now', yes: act === 'discard', reason })
}
