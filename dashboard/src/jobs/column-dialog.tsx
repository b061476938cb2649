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

/** The selection is kept in the address. */
export function ColumnDialog({ columns, change, close }: ColumnDialogProps) {
  const [path, setPath] = useState('')
  const keys = columns.map(({ key }) => key)
  const paths = columns.filter(({ key }) => isPayloadKey(key))
  const toggle = (key: string) =>
    change(keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key])
  const wanted = path.trim().replace(/^(?:payload)?\.?/, 'payload.')
  const refusal = columnOf(wanted) === null ? 'Use names separated by dots: user.id' : null
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
          label="Payload path"
          value={path}
          onChange={setPath}
          placeholder="user.id"
          hint="Payloads need the scope jobs:payload and are redacted."
        />
        <div className="flex justify-end gap-2">
          <Button onClick={() => change([])}>Reset</Button>
          <Button type="submit" refusal={refusal}>
            Add path
          </Button>
          <Button kind="main" onClick={close}>
            Done
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
