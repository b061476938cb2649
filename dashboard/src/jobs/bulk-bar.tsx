import { useState } from 'react'
import type { Job, OperationAction } from '../../../src/http/contract/index.ts'
import { messageOf } from '../api/client.ts'
import { cancelJob, discardJob, retryJob, useCommand } from '../api/commands.ts'
import { useConfig } from '../api/queries.ts'
import { cliLine } from '../format/cli-line.ts'
import { plural } from '../format/show-time.ts'
import { showTotal, totalOf } from '../format/totals.ts'
import { OperationForm } from '../operations/operation-form.tsx'
import { actionWords } from '../operations/operation-words.ts'
import { usePlan } from '../operations/use-plan.ts'
import { Button } from '../ui/button.tsx'
import { ChangeDialog } from '../ui/change-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

type JobAction = Exclude<OperationAction, 'redrive'>

const ACTIONS = ['retry', 'run-now', 'cancel', 'discard'] as const satisfies JobAction[]
const COMMANDS = {
  retry: 'retryJob',
  'run-now': 'retryJob',
  cancel: 'cancelJob',
  discard: 'discardJob',
} as const
/** The states that an action can change. */
const CHANGEABLE: Record<JobAction, readonly string[]> = {
  retry: ['dead'],
  'run-now': ['waiting'],
  cancel: ['waiting', 'running'],
  discard: ['dead', 'succeeded', 'cancelled', 'waiting'],
}

/** Why the action does not apply to all selected jobs; null if it does. */
function selectionRefusal(jobs: Job[], action: JobAction): string | null {
  const wrong = jobs.filter(({ status }) => !CHANGEABLE[action].includes(status))
  const first = wrong[0]
  if (first === undefined) return null
  const alike = wrong.filter(({ status }) => status === first.status).length
  return `${alike} of ${jobs.length} ${alike === 1 ? 'is' : 'are'} ${first.status}`
}

/** The same for all jobs of a search, by its status. */
function searchRefusal(q: string, action: JobAction): string | null {
  const status = statusOf(q)
  return status === null || CHANGEABLE[action].includes(status) ? null : `All matching jobs are ${status}`
}

const statusOf = (q: string) => /(?:^|\s)status:(\w+)/.exec(q)?.[1] ?? null

interface Tally {
  done: number
  refused: string[]
}

/** One by one: each job has its own outcome. */
async function changeAll(jobs: Job[], action: JobAction, reason: string): Promise<Tally> {
  const tally: Tally = { done: 0, refused: [] }
  for (const job of jobs) {
    try {
      if (action === 'retry') await retryJob(job, { reason })
      else if (action === 'run-now') await retryJob(job, { reason, now: true })
      else if (action === 'cancel') await cancelJob(job, { reason })
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
  /** The table of the list. */
  table: string | null
  clear: () => void
}

export function BulkBar({ selected, q, table, clear }: BulkBarProps) {
  const [action, setAction] = useState<JobAction | null>(null)
  const [isAll, setAll] = useState(false)
  const refusal = useRefusal()
  if (selected.length === 0) return null
  const end = () => {
    setAction(null)
    setAll(false)
  }
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-info-wash px-4 py-2">
      <Selection {...{ selected, q, table, isAll, setAll }} />
      {ACTIONS.map((one) => (
        <Button
          key={one}
          kind={one === 'retry' ? 'main' : 'plain'}
          refusal={
            refusal(COMMANDS[one]) ??
            (isAll ? (refusal('beginOperation') ?? searchRefusal(q, one)) : selectionRefusal(selected, one))
          }
          onClick={() => setAction(one)}
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
      {action === null ? null : isAll ? (
        <Dialog title={`${actionWords[action].verb} all matching jobs`} onClose={() => setAction(null)}>
          <OperationForm
            planned={{ action: action, q, table }}
            pace={null}
            close={() => setAction(null)}
            begun={() => {
              end()
              clear()
            }}
          />
        </Dialog>
      ) : (
        <ActOnSelected action={action} selected={selected} close={() => setAction(null)} clear={clear} />
      )}
    </div>
  )
}

interface SelectionProps extends Omit<BulkBarProps, 'clear'> {
  isAll: boolean
  setAll: (isAll: boolean) => void
}

/** Selected jobs, or all matching jobs, counted by a dry run. */
function Selection({ selected, q, table, isAll, setAll }: SelectionProps) {
  const counting = ACTIONS.find((action) => searchRefusal(q, action) === null)
  const plan = usePlan({ action: counting ?? 'cancel', q, table }, isAll && counting !== undefined)
  const total = plan.data === undefined ? '' : `${showTotal(totalOf([plan.data.operation], 'total'))} `
  return (
    <>
      <p role="status" className="text-info">
        {isAll
          ? `All ${total}matching · updates paused`
          : `${plural(selected.length, 'job')} selected · updates paused`}
      </p>
      <span className="mr-auto">
        <Button
          kind="ghost"
          isPressed={isAll}
          refusal={q === '' ? 'Search first: this would select every job.' : null}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? 'Only selected' : 'All matching'}
        </Button>
      </span>
    </>
  )
}

interface ActOnSelectedProps {
  action: JobAction
  selected: Job[]
  close: () => void
  clear: () => void
}

const DONE: Record<JobAction, string> = {
  retry: 'retried',
  'run-now': 'made due',
  cancel: 'cancelled',
  discard: 'discarded',
}

function ActOnSelected({ action, selected, close, clear }: ActOnSelectedProps) {
  const command = useCommand((reason: string) => changeAll(selected, action, reason))
  const config = useConfig()
  const isDanger = action === 'cancel' || action === 'discard'
  const title = `${actionWords[action].verb} ${plural(selected.length, 'job')}`
  const ids = selected.map(({ id }) => id)
  return (
    <ChangeDialog
      title={title}
      verb={title}
      isDanger={isDanger}
      {...(isDanger && config.data?.environment === 'production' ? { typed: String(ids.length) } : {})}
      effect={actionWords[action].effect}
      cli={({ reason }) =>
        cliLine(['jobs', action === 'run-now' ? 'retry' : action, ...ids], {
          now: action === 'run-now',
          reason,
        })
      }
      close={close}
      run={async ({ reason }) => {
        const { done, refused } = await command.mutateAsync(reason)
        say(
          refused.length === 0
            ? `${plural(done, 'job')} ${DONE[action]}.`
            : `${done} ${DONE[action]}, ${refused.length} refused: ${refused[0]}`,
          { isBad: refused.length > 0 },
        )
        clear()
      }}
    />
  )
}
