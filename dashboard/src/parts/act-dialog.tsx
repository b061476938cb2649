// Asks for the reason of an act and says what it does; the verb stands on the button.
import { type ReactNode, useState } from 'react'
import { messageOf } from '../api/client.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface ActDialogProps {
  title: string
  verb: string
  effect: ReactNode
  isDanger?: boolean
  /** Has to be typed where the act is large or cannot be undone in production. */
  typed?: string
  run: (reason: string) => Promise<unknown>
  close: () => void
}

export function ActDialog({ title, verb, effect, isDanger = false, typed, run, close }: ActDialogProps) {
  const [reason, setReason] = useState('')
  const [check, setCheck] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const refusal = typed !== undefined && check !== typed ? `Type ${typed} first.` : null
  const submit = async () => {
    setBusy(true)
    try {
      await run(reason)
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
        {typed === undefined ? null : (
          <Field label={`Type ${typed} to confirm`} value={check} onChange={setCheck} />
        )}
        {problem === null ? null : (
          <p role="alert" className="rounded-md bg-bad-wash px-3 py-2 text-bad">
            {problem}
          </p>
        )}
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

interface FieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'number' | 'password'
  hint?: string
  isFirst?: boolean
}

export function Field({ label, value, onChange, type = 'text', hint, isFirst = false }: FieldProps) {
  return (
    <label className="flex flex-col gap-1">
      <span className="font-medium">{label}</span>
      <input
        type={type}
        value={value}
        data-first={isFirst ? '' : undefined}
        maxLength={500}
        onChange={(event) => onChange(event.target.value)}
        className="min-h-9 rounded-md border border-edge bg-ground px-3"
      />
      {hint === undefined ? null : <span className="text-xs text-soft">{hint}</span>}
    </label>
  )
}
