// Explains a change and asks for its reason; shows the equivalent command.
import { type ReactNode, useState } from 'react'
import { messageOf } from '../api/client.ts'
import { readDuration } from '../format/read-duration.ts'
import { Button } from './button.tsx'
import { CopyLine } from './copy-line.tsx'
import { Dialog } from './dialog.tsx'
import { Field, Problem } from './field.tsx'

export interface ChangeInput {
  reason: string
  /** Undefined: until someone ends it. */
  durationMs?: number | undefined
}

interface ChangeDialogProps {
  title: string
  verb: string
  effect: ReactNode
  isDanger?: boolean
  /** Must be typed to confirm a large or irreversible change in production. */
  typed?: string
  /** It can end automatically. */
  hasDuration?: boolean
  /** The equivalent command, with a reason. */
  cli: (input: { reason: string; duration: string }) => string
  run: (input: ChangeInput) => Promise<unknown>
  close: () => void
}

export function ChangeDialog(props: ChangeDialogProps) {
  const { title, verb, effect, isDanger = false, typed, hasDuration = false, cli, run, close } = props
  const [reason, setReason] = useState('')
  const [duration, setDuration] = useState('')
  const [check, setCheck] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const durationMs = readDuration(duration)
  const isUnread = duration.trim() !== '' && durationMs === null
  const refusal =
    typed !== undefined && check !== typed
      ? `Type ${typed} first.`
      : isUnread
        ? 'The end must be a duration: 30s, 10m, 2h or 1d.'
        : null
  const submit = async () => {
    setBusy(true)
    try {
      await run({ reason, durationMs: durationMs ?? undefined })
      close()
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={close}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (refusal === null && !isBusy) void submit()
        }}
      >
        <div className="text-soft">{effect}</div>
        <Field
          label="Reason, recorded with the event (optional)"
          value={reason}
          onChange={setReason}
          isFirst
        />
        {hasDuration ? <DurationField value={duration} onChange={setDuration} /> : null}
        {typed === undefined ? null : (
          <Field label={`Type ${typed} to confirm`} value={check} onChange={setCheck} />
        )}
        <CopyLine line={cli({ reason: reasonOrDots(reason), duration: isUnread ? '' : duration.trim() })} />
        {problem === null ? null : <Problem>{problem}</Problem>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Do nothing</Button>
          <Button type="submit" kind={isDanger ? 'danger' : 'main'} isBusy={isBusy} refusal={refusal}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The command line requires a reason. */
export const reasonOrDots = (reason: string) => (reason.trim() === '' ? '…' : reason.trim())

const DURATIONS = ['10m', '1h', '4h', '1d']

function DurationField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <div className="flex flex-col gap-2">
      <Field
        label="End automatically after (optional)"
        value={value}
        onChange={onChange}
        placeholder="until resumed"
      />
      <div className="flex flex-wrap gap-1.5">
        {DURATIONS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={value === one}
            className={`min-h-7 rounded-full border px-3 text-xs font-medium ${value === one ? 'border-transparent bg-accent-fill text-white' : 'border-edge/60 text-soft hover:text-ink'}`}
            onClick={() => onChange(value === one ? '' : one)}
          >
            {one}
          </button>
        ))}
      </div>
    </div>
  )
}
