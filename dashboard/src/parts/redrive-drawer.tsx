import { useState } from 'react'
import type { DeadLetterGroup } from '../../../src/http/contract.ts'
import { messageOf } from '../api/client.ts'
import { redrive, useCommand } from '../api/commands.ts'
import { useConfig, useJobs } from '../api/queries.ts'
import { plural, shortId } from '../show-time.ts'
import { Field } from './act-dialog.tsx'
import { Go, jobPath } from './address.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { say } from './toast.tsx'

const TYPED_FROM_JOBS = 1_000

/** Look at some, send one first, then the rest at a rate, and stop when they fail again. */
export function RedriveDrawer({ group, close }: { group: DeadLetterGroup; close: () => void }) {
  const [canary, setCanary] = useState('1')
  const [rate, setRate] = useState('5')
  const [reason, setReason] = useState('')
  const [check, setCheck] = useState('')
  const config = useConfig()
  const command = useCommand(() =>
    redrive(group.cause_id, {
      canary: Number(canary),
      rate_per_s: Number(rate),
      expect: group.jobs,
      reason: reason.trim() === '' ? undefined : reason,
    }),
  )
  const isLarge = group.jobs > TYPED_FROM_JOBS || config.data?.environment === 'production'
  const refusal = refusalOf({ canary, rate, check, wanted: isLarge ? String(group.jobs) : null })
  const submit = () =>
    command.mutate(undefined, {
      onSuccess: () => {
        say(`Redrive of ${plural(group.jobs, 'job')} has begun.`)
        close()
      },
    })
  return (
    <Dialog title={`Redrive ${group.code ?? 'these jobs'}`} onClose={close} isDrawer>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (refusal === null && !command.isPending) submit()
        }}
      >
        <p className="text-soft">
          {plural(group.jobs, 'dead job')} start anew with all attempts. Nothing is changed where the number
          has changed meanwhile.
        </p>
        <Examples causeId={group.cause_id} />
        <Field
          isFirst
          label="Canary"
          type="number"
          value={canary}
          onChange={setCanary}
          hint="This many go first and have to succeed before the rest follows. 0: none."
        />
        <Field
          label="Rate per second"
          type="number"
          value={rate}
          onChange={setRate}
          hint="The rest comes back at this pace."
        />
        <StopRule />
        <Field label="Reason, kept with the events (optional)" value={reason} onChange={setReason} />
        {isLarge ? <Field label={`Type ${group.jobs} to confirm`} value={check} onChange={setCheck} /> : null}
        {command.error === null ? null : (
          <p role="alert" className="rounded-md bg-bad-wash px-3 py-2 text-bad">
            {messageOf(command.error)}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Keep as they are</Button>
          <Button type="submit" kind="main" isBusy={command.isPending} refusal={refusal}>
            Redrive {plural(group.jobs, 'job')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function StopRule() {
  return (
    <p className="rounded-md bg-raised px-3 py-2 text-soft">
      It stops by itself when the canary fails, when too many fail again, or when a breaker opens. What was
      brought back stays so.
    </p>
  )
}

function refusalOf({
  canary,
  rate,
  check,
  wanted,
}: {
  canary: string
  rate: string
  check: string
  wanted: string | null
}): string | null {
  if (!/^\d{1,4}$/.test(canary)) return 'The canary is a whole number from 0.'
  if (!(Number(rate) >= 0.01)) return 'The rate is a number from 0.01.'
  return wanted !== null && check !== wanted ? `Type ${wanted} first.` : null
}

function Examples({ causeId }: { causeId: string }) {
  const jobs = useJobs(`status:dead cause:${causeId}`, 5, true)
  const shown = jobs.data?.pages[0]?.jobs ?? []
  if (shown.length === 0) return null
  return (
    <div>
      <h3 className="mb-1 font-medium">Some of them</h3>
      <ul className="flex flex-col gap-1">
        {shown.map((job) => (
          <li key={job.id} className="flex gap-2">
            <Go to={jobPath(job.id)} className="link font-mono text-xs leading-5">
              {shortId(job.id)}
            </Go>
            <span className="truncate text-soft">{job.error?.reason ?? job.type}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
