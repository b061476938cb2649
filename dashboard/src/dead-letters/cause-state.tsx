import { useState } from 'react'
import type { CauseState, DeadLetterGroup } from '../../../src/http/contract/index.ts'
import { markCause, useCommand } from '../api/commands.ts'
import { cliLine } from '../format/cli-line.ts'
import { Badge } from '../ui/badge.tsx'
import { ChangeDialog } from '../ui/change-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import type { Tone } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { causeStates, isBack } from './cause-views.ts'

const TONES: Record<CauseState, Tone> = {
  new: 'info',
  investigating: 'warn',
  resolved: 'good',
  ignored: 'quiet',
}

export function CauseBadge({ group }: { group: DeadLetterGroup }) {
  if (isBack(group))
    return (
      <Badge tone="bad">
        back since <Time at={group.back_since} />
      </Badge>
    )
  return <Badge tone={TONES[group.state]}>{group.state}</Badge>
}

/** Actor and reason of the state; nothing for a new cause. */
export function CauseNote({
  group: { changed_by, changed_at, state, state_reason },
}: {
  group: DeadLetterGroup
}) {
  if (changed_by === null || changed_at === null) return null
  return (
    <>
      , {state} by {changed_by} <Time at={changed_at} isRelative />
      {state_reason === null ? '' : `: “${state_reason}”`}
    </>
  )
}

const EFFECTS: Record<CauseState, string> = {
  new: 'The cause is open again.',
  investigating: 'Shows others that someone is working on it.',
  resolved: 'Closes the cause. It reopens if another job dies of it.',
  ignored: 'Closes the cause, even if more jobs die of it.',
}

export function CauseChoice({ group }: { group: DeadLetterGroup }) {
  const [next, setNext] = useState<CauseState | null>(null)
  const refusal = useRefusal()('markCause')
  const command = useCommand((input: { state: CauseState; reason: string }) =>
    markCause({ id: group.cause_id, table: group.table }, input),
  )
  const name = group.code ?? 'these jobs'
  return (
    <>
      <label className="flex items-center">
        <span className="sr-only">State of {name}</span>
        <select
          value={group.state}
          disabled={refusal !== null}
          title={refusal ?? undefined}
          onChange={(event) => setNext(event.target.value as CauseState)}
          className="min-h-8 rounded-md border border-edge/60 bg-panel px-2 text-ink disabled:bg-raised disabled:text-soft"
        >
          {causeStates.map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </select>
      </label>
      {next === null ? null : (
        <ChangeDialog
          title={`Mark ${name} as ${next}`}
          verb={`Mark as ${next}`}
          effect={EFFECTS[next]}
          cli={({ reason }) => cliLine(['dead', 'mark', group.cause_id], { as: next, reason })}
          close={() => setNext(null)}
          run={async ({ reason }) => {
            await command.mutateAsync({ state: next, reason })
            say(`${name} is ${next}.`)
          }}
        />
      )}
    </>
  )
}
