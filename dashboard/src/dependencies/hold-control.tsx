import { useState } from 'react'
import { messageOf } from '../api/client.ts'
import { type HoldOptions, type Target, useCommand } from '../api/commands.ts'
import { cliLine } from '../format/cli-line.ts'
import { Button } from '../ui/button.tsx'
import { ChangeDialog, type ChangeInput } from '../ui/change-dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

interface HoldControlProps {
  target: Target
  isOn: boolean
  hold: (target: Target, options: HoldOptions) => Promise<unknown>
  resume: (target: Target) => Promise<unknown>
  words: { hold: string; resume: string; effect: string }
  /** The command: `queues pause`. */
  cli: string[]
  commands: ['holdBreaker', 'resumeBreaker'] | ['pauseQueue', 'resumeQueue']
}

/** Stops claims until a time ends or someone resumes them. */
export function HoldControl({ target, isOn, hold, resume, words, cli, commands }: HoldControlProps) {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal()
  const command = useCommand((input: ChangeInput | null) =>
    input === null ? resume(target) : hold(target, { reason: input.reason, ...durationOf(input) }),
  )
  const name = target.id
  const release = () =>
    command.mutate(null, {
      onSuccess: () => say(`${name} is resumed.`),
      onError: (error) => say(messageOf(error), { isBad: true }),
    })
  return (
    <div className="mt-auto flex gap-2">
      {isOn ? (
        <Button
          kind="main"
          label={`${words.resume} ${name}`}
          refusal={refusal(commands[1])}
          isBusy={command.isPending}
          onClick={release}
        >
          {words.resume}
        </Button>
      ) : (
        <Button
          label={`${words.hold} ${name}`}
          refusal={refusal(commands[0])}
          onClick={() => setAsking(true)}
        >
          {words.hold}
        </Button>
      )}
      {isAsking ? (
        <ChangeDialog
          title={`${words.hold} ${name}`}
          verb={`${words.hold} ${name}`}
          effect={words.effect}
          hasDuration
          cli={({ reason, duration }) =>
            cliLine([...cli, name], { table: target.table, for: duration, reason })
          }
          close={() => setAsking(false)}
          run={async (input) => {
            await command.mutateAsync(input)
            say(`${name} is held.`, { undo: { label: words.resume, run: release } })
          }}
        />
      ) : null}
    </div>
  )
}

const durationOf = ({ durationMs }: ChangeInput) =>
  durationMs === undefined ? {} : { duration_ms: durationMs }
