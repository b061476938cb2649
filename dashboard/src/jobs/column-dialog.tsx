import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { columnOf, isPayloadKey, type JobColumn, jobColumns } from './job-columns.ts'

interface ColumnDialogProps {
  columns: JobColumn[]
  change: (keys: string[]) => void
  close: () => void
}

/** What is chosen is in the address at once. */
export function ColumnDialog({ columns, change, close }: ColumnDialogProps) {
  const [path, setPath] = useState('')
  const keys = columns.map(({ key }) => key)
  const paths = columns.filter(({ key }) => isPayloadKey(key))
  const toggle = (key: string) =>
    change(keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key])
  const wanted = path.trim().replace(/^(?:payload)?\.?/, 'payload.')
  const refusal = columnOf(wanted) === null ? 'A path is names with dots between: user.id' : null
  return (
    <Dialog title="Columns" onClose={close}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (refusal !== null) return
          if (!keys.includes(wanted)) change([...keys, wanted])
          setPath('')
        }}
      >
        <fieldset className="grid grid-cols-2 gap-x-4">
          <legend className="sr-only">Columns</legend>
          {[...jobColumns, ...paths].map(({ key, name }) => (
            <label key={key} className="flex min-h-8 items-center gap-2">
              <input
                type="checkbox"
                className="size-4 accent-accent-fill"
                checked={keys.includes(key)}
                onChange={() => toggle(key)}
              />
              <span className="truncate">{name}</span>
            </label>
          ))}
        </fieldset>
        <Field
          label="A path of the payload"
          value={path}
          onChange={setPath}
          placeholder="user.id"
          hint="Payloads are shown with the scope jobs:payload, and redacted."
        />
        <div className="flex justify-end gap-2">
          <Button onClick={() => change([])}>As usual</Button>
          <Button type="submit" refusal={refusal}>
            Add the path
          </Button>
          <Button kind="main" onClick={close}>
            Done
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
