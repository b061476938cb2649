import { useState } from 'react'
import type { Job, OperationAction } from '../../../src/http/contract/index.ts'
import { messageOf } from '../api/client.ts'
import { cancelJob, discardJob, retryJob, useCommand } from '../api/commands.ts'
import { useConfig } from '../api/queries.ts'
import { cliLine } from '../format/cli-line.ts'
import { plural, showCount } from '../format/show-time.ts'
import { OperationForm } from '../operations/operation-form.tsx'
import { actionWords } from '../operations/operation-words.ts'
import { usePlan } from '../operations/use-plan.ts'
import { Button } from '../ui/button.tsx'
import { ActDialog } from '../ui/change-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

type Act = Exclude<OperationAction, 'redrive'>

const ACTS = ['retry', 'run-now', 'cancel', 'discard'] as const satisfies Act[]
const COMMANDS = {
  retry: 'retryJob',
  'run-now': 'retryJob',
  cancel: 'cancelJob',
  discard: 'discardJob',
} as const
/** The states that an act can change. */
const FITTING: Record<Act, readonly string[]> = {
  retry: ['dead'],
  'run-now': ['waiting'],
  cancel: ['waiting', 'running'],
  discard: ['dead', 'succeeded', 'cancelled', 'waiting'],
}

/** Why not all of the selected jobs can take the act; null where they can. */
function unfit(jobs: Job[], act: Act): string | null {
  const wrong = jobs.filter(({ status }) => !FITTING[act].includes(status))
  const first = wrong[0]
  if (first === undefined) return null
  const alike = wrong.filter(({ status }) => status === first.status).length
  return `${alike} of ${jobs.length} ${alike === 1 ? 'is' : 'are'} ${first.status}`
}

/** The same for all jobs of a search, by the status it asks for. */
function unfitSearch(q: string, act: Act): string | null {
  const status = statusOf(q)
  return status === null || FITTING[act].includes(status) ? null : `All of them are ${status}`
}

const statusOf = (q: string) => /(?:^|\s)status:(\w+)/.exec(q)?.[1] ?? null

interface Tally {
  done: number
  refused: string[]
}

/** One by one, so that each job answers for itself. */
async function actOnAll(jobs: Job[], act: Act, reason: string): Promise<Tally> {
  const tally: Tally = { done: 0, refused: [] }
  for (const job of jobs) {
    try {
      if (act === 'retry') await retryJob(job, { reason })
      else if (act === 'run-now') await retryJob(job, { reason, now: true })
      else if (act === 'cancel') await cancelJob(job, { reason })
      else await discardJob(job, { reason })
      tally.done += 1
    } catch (error) {
      tally.refused.push(`${job.id}: ${messageOf(error)}`)
    }
  }
  return tally
}

interface BulkBarProps {
  selected: Job[]
  q: string
  /** That the list is of. */
  table: string | null
  clear: () => void
}

export function BulkBar({ selected, q, table, clear }: BulkBarProps) {
  const [act, setAct] = useState<Act | null>(null)
  const [isAll, setAll] = useState(false)
  const refusal = useRefusal()
  if (selected.length === 0) return null
  const end = () => {
    setAct(null)
    setAll(false)
  }
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-info-wash px-4 py-2">
      <Selection {...{ selected, q, table, isAll, setAll }} />
      {ACTS.map((one) => (
        <Button
          key={one}
          kind={one === 'retry' ? 'main' : 'plain'}
          refusal={
            refusal(COMMANDS[one]) ??
            (isAll ? (refusal('beginOperation') ?? unfitSearch(q, one)) : unfit(selected, one))
          }
          onClick={() => setAct(one)}
        >
          {one === 'run-now' ? 'Run now' : actionWords[one].verb}
        </Button>
      ))}
      <Button
        kind="ghost"
        onClick={() => {
          end()
          clear()
        }}
      >
        Clear
      </Button>
      {act === null ? null : isAll ? (
        <Dialog title={`${actionWords[act].verb} all that match`} onClose={() => setAct(null)}>
          <OperationForm
            planned={{ action: act, q, table }}
            pace={null}
            close={() => setAct(null)}
            begun={() => {
              end()
              clear()
            }}
          />
        </Dialog>
      ) : (
        <ActOnSelected act={act} selected={selected} close={() => setAct(null)} clear={clear} />
      )}
    </div>
  )
}

interface SelectionProps extends Omit<BulkBarProps, 'clear'> {
  isAll: boolean
  setAll: (isAll: boolean) => void
}

/** What is selected; and all that match, which the dry run of an act that fits counts. */
function Selection({ selected, q, table, isAll, setAll }: SelectionProps) {
  const counting = ACTS.find((act) => unfitSearch(q, act) === null)
  const plan = usePlan({ action: counting ?? 'cancel', q, table }, isAll && counting !== undefined)
  const total = plan.data?.operation.total
  return (
    <>
      <p role="status" className="text-info">
        {isAll
          ? `All ${total === undefined ? '' : `${showCount(total)} `}matching; the list rests meanwhile`
          : `${plural(selected.length, 'job')} selected; the list rests meanwhile`}
      </p>
      <span className="mr-auto">
        <Button
          kind="ghost"
          isPressed={isAll}
          refusal={q === '' ? 'Search for something first: this would be every job there is.' : null}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? 'Only those selected' : 'All that match'}
        </Button>
      </span>
    </>
  )
}

interface ActOnSelectedProps {
  act: Act
  selected: Job[]
  close: () => void
  clear: () => void
}

const DONE: Record<Act, string> = {
  retry: 'retried',
  'run-now': 'made due',
  cancel: 'cancelled',
  discard: 'discarded',
}

function ActOnSelected({ act, selected, close, clear }: ActOnSelectedProps) {
  const command = useCommand((reason: string) => actOnAll(selected, act, reason))
  const config = useConfig()
  const isDanger = act === 'cancel' || act === 'discard'
  const title = `${actionWords[act].verb} ${plural(selected.length, 'job')}`
  const ids = selected.map(({ id }) => id)
  return (
    <ActDialog
      title={title}
      verb={title}
      isDanger={isDanger}
      {...(isDanger && config.data?.environment === 'production' ? { typed: String(ids.length) } : {})}
      effect={actionWords[act].effect}
      cli={({ reason }) =>
        cliLine(['jobs', act === 'run-now' ? 'retry' : act, ...ids], { now: act === 'run-now', reason })
      }
      close={close}
      run={async ({ reason }) => {
        const { done, refused } = await command.mutateAsync(reason)
        say(
          refused.length === 0
            ? `${plural(done, 'job')} ${DONE[act]}.`
            : `${done} ${DONE[act]}, ${refused.length} refused: ${refused[0]}`,
          { isBad: refused.length > 0 },
        )
        clear()
      }}
    />
  )
}
