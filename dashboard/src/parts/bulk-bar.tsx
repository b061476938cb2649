import { useState } from 'react'
import type { Job } from '../../../src/http/contract.ts'
import { messageOf } from '../api/client.ts'
import { cancelJob, retryJob, useCommand } from '../api/commands.ts'
import { plural } from '../show-time.ts'
import { ActDialog } from './act-dialog.tsx'
import { Button } from './button.tsx'
import { say } from './toast.tsx'
import { useRefusal } from './use-refusal.ts'

type Act = 'retry' | 'cancel'

/** Why not all of the selected jobs can take the act; null where they can. */
function unfit(jobs: Job[], act: Act): string | null {
  const wrong = jobs.filter(({ status }) =>
    act === 'retry' ? status !== 'dead' : status !== 'waiting' && status !== 'running',
  )
  const first = wrong[0]
  if (first === undefined) return null
  const alike = wrong.filter(({ status }) => status === first.status).length
  return `${alike} of ${jobs.length} ${alike === 1 ? 'is' : 'are'} ${first.status}`
}

interface Tally {
  done: number
  refused: string[]
}

/** One by one, so that each job answers for itself. */
async function actOnAll(jobs: Job[], act: Act, reason: string): Promise<Tally> {
  const tally: Tally = { done: 0, refused: [] }
  const options = reason.trim() === '' ? {} : { reason }
  for (const { id } of jobs) {
    try {
      await (act === 'retry' ? retryJob(id, options) : cancelJob(id, options))
      tally.done += 1
    } catch (error) {
      tally.refused.push(`${id}: ${messageOf(error)}`)
    }
  }
  return tally
}

export function BulkBar({ selected, clear }: { selected: Job[]; clear: () => void }) {
  const [act, setAct] = useState<Act | null>(null)
  const refusal = useRefusal()
  const command = useCommand(({ kind, reason }: { kind: Act; reason: string }) =>
    actOnAll(selected, kind, reason),
  )
  if (selected.length === 0) return null
  const count = plural(selected.length, 'job')
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-info-wash px-4 py-2">
      <p role="status" className="mr-auto text-info">
        {count} selected; the list rests meanwhile
      </p>
      <Button
        kind="main"
        refusal={refusal('retryJob') ?? unfit(selected, 'retry')}
        onClick={() => setAct('retry')}
      >
        Retry
      </Button>
      <Button refusal={refusal('cancelJob') ?? unfit(selected, 'cancel')} onClick={() => setAct('cancel')}>
        Cancel
      </Button>
      <Button kind="ghost" onClick={clear}>
        Clear
      </Button>
      {act === null ? null : (
        <ActDialog
          title={act === 'retry' ? `Retry ${count}` : `Cancel ${count}`}
          verb={act === 'retry' ? `Retry ${count}` : `Cancel ${count}`}
          isDanger={act === 'cancel'}
          effect={
            act === 'retry'
              ? 'Each starts anew with all its attempts. What they did before may be done again.'
              : 'Waiting jobs end at once, running ones are asked to stop. This cannot be undone.'
          }
          close={() => setAct(null)}
          run={async (reason) => {
            const { done, refused } = await command.mutateAsync({ kind: act, reason })
            const verb = act === 'retry' ? 'retried' : 'cancelled'
            say(
              refused.length === 0
                ? `${plural(done, 'job')} ${verb}.`
                : `${done} ${verb}, ${refused.length} refused: ${refused[0]}`,
              {
                isBad: refused.length > 0,
              },
            )
            clear()
          }}
        />
      )}
    </div>
  )
}
