import { useState } from 'react'
import { messageOf } from '../api/client.ts'
import { type HoldOptions, type Target, useCommand } from '../api/commands.ts'
import { cliLine } from '../format/cli-line.ts'
import { Button } from '../ui/button.tsx'
import { ActDialog, type ActInput } from '../ui/change-dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

interface BrakeProps {
  target: Target
  isOn: boolean
  hold: (target: Target, options: HoldOptions) => Promise<unknown>
  resume: (target: Target) => Promise<unknown>
  words: { hold: string; resume: string; effect: string }
  /** Of the command line: `queues pause`. */
  cli: string[]
  commands: ['holdBreaker', 'resumeBreaker'] | ['pauseQueue', 'resumeQueue']
}

/** Holds back what is claimed, until a time is over or somebody lets it go. */
export function Brake({ target, isOn, hold, resume, words, cli, commands }: BrakeProps) {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal()
  const command = useCommand((input: ActInput | null) =>
    input === null ? resume(target) : hold(target, { reason: input.reason, ...durationOf(input) }),
  )
  const name = target.id
  const release = () =>
    command.mutate(null, {
      onSuccess: () => say(`${name} goes on.`),
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
        <ActDialog
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

const durationOf = ({ durationMs }: ActInput) => (durationMs === undefined ? {} : { duration_ms: durationMs })
