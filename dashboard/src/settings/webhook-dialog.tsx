import { useState } from 'react'
import { messageOf } from '../api/client.ts'
import { createWebhook, useCommand } from '../api/commands.ts'
import { useTable } from '../shell/address.tsx'
import { Button } from '../ui/button.tsx'
import { CopyLine } from '../ui/copy-line.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Problem } from '../ui/field.tsx'

/** Asks for the address, then shows the secret once. */
export function WebhookDialog({ close }: { close: () => void }) {
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('')
  const [reason, setReason] = useState('')
  const [table] = useTable()
  const command = useCommand(createWebhook)
  const types = events.split(/[\s,]+/).filter((type) => type !== '')
  const refusal = /^https?:\/\/\S+$/.test(url.trim()) ? null : 'Must be an address: https://…'
  if (command.data !== undefined) return <Secret secret={command.data.secret} close={close} />
  return (
    <Dialog title="New webhook" onClose={close}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (refusal !== null || command.isPending) return
          command.mutate({
            url: url.trim(),
            reason,
            ...(types.length === 0 ? {} : { events: types }),
            ...(table === null ? {} : { table }),
          })
        }}
      >
        <Field
          isFirst
          label="Address"
          value={url}
          onChange={setUrl}
          placeholder="https://example.com/hooks/unstuck"
          hint="Calls are signed (Standard Webhooks)."
        />
        <Field
          label="Events (optional)"
          value={events}
          onChange={setEvents}
          placeholder="failed, reaper:requeued"
          hint="Separated by spaces or commas. Empty: all events."
        />
        <Field label="Reason, recorded in the audit log (optional)" value={reason} onChange={setReason} />
        {command.error === null ? null : <Problem>{messageOf(command.error)}</Problem>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Close</Button>
          <Button type="submit" kind="main" refusal={refusal} isBusy={command.isPending}>
            Create webhook
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Secret({ secret, close }: { secret: string; close: () => void }) {
  return (
    <Dialog title="The secret of the webhook" onClose={close}>
      <div className="flex flex-col gap-4">
        <p>Store it now: it cannot be shown again. The receiver verifies signatures with it.</p>
        <CopyLine line={secret} label="Copy the secret" />
        <div className="flex justify-end">
          <Button kind="main" onClick={close}>
            I have stored it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
