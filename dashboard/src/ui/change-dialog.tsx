// Asks for the reason of an act and says what it does; the verb stands on the button, the same as a command below.
import { type ReactNode, useState } from 'react'
import { messageOf } from '../api/client.ts'
import { readDuration } from '../format/read-duration.ts'
import { Button } from './button.tsx'
import { CopyLine } from './copy-line.tsx'
import { Dialog } from './dialog.tsx'
import { Field, Problem } from './field.tsx'

export interface ActInput {
  reason: string
  /** Undefined: until somebody ends it. */
  durationMs?: number | undefined
}

interface ActDialogProps {
  title: string
  verb: string
  effect: ReactNode
  isDanger?: boolean
  /** Has to be typed where the act is large or cannot be undone in production. */
  typed?: string
  /** Whether it can end by itself. */
  hasDuration?: boolean
  /** The same as a command; the reason is never empty. */
  cli: (input: { reason: string; duration: string }) => string
  run: (input: ActInput) => Promise<unknown>
  close: () => void
}

export function ActDialog(props: ActDialogProps) {
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
        ? 'The end takes 30s, 10m, 2h or 1d.'
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
        <Field label="Reason, kept with the event (optional)" value={reason} onChange={setReason} isFirst />
        {hasDuration ? <DurationField value={duration} onChange={setDuration} /> : null}
        {typed === undefined ? null : (
          <Field label={`Type ${typed} to confirm`} value={check} onChange={setCheck} />
        )}
        <CopyLine line={cli({ reason: reasonOrDots(reason), duration: isUnread ? '' : duration.trim() })} />
        {problem === null ? null : <Problem>{problem}</Problem>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Keep as it is</Button>
          <Button type="submit" kind={isDanger ? 'danger' : 'main'} isBusy={isBusy} refusal={refusal}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The command line asks for a reason always. */
export const reasonOrDots = (reason: string) => (reason.trim() === '' ? '…' : reason.trim())

const DURATIONS = ['10m', '1h', '4h', '1d']

function DurationField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <div className="flex flex-col gap-2">
      <Field
        label="Ends by itself after (optional)"
        value={value}
        onChange={onChange}
        placeholder="until somebody resumes it"
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
