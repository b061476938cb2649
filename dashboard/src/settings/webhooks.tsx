import { useState } from 'react'
import type { Delivery, Webhook } from '../../../src/http/contract/index.ts'
import { messageOf } from '../api/client.ts'
import { redeliver, removeWebhook, switchWebhook, useCommand } from '../api/commands.ts'
import { useDeliveries, useWebhooks } from '../api/queries.ts'
import { cliLine } from '../format/cli-line.ts'
import { shortId, showCount, showDuration } from '../format/show-time.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ChangeDialog } from '../ui/change-dialog.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Empty, Page, Read } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import type { Tone } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { SettingsTabs } from './settings-tabs.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

export function WebhooksPage() {
  const answer = useWebhooks()
  const [isNew, setNew] = useState(false)
  const refusal = useRefusal()
  return (
    <Page
      title="Webhooks"
      lead="Job events as signed HTTP calls. Failed calls are retried with backoff."
      actions={
        <Button kind="main" refusal={refusal('addWebhook')} onClick={() => setNew(true)}>
          New webhook
        </Button>
      }
    >
      <SettingsTabs />
      <Read what="The webhooks" from={answer}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <div className="panel">
              <Empty title="No webhooks yet.">A webhook receives job events as signed calls.</Empty>
            </div>
          ) : (
            <ul className="flex flex-col gap-4">
              {webhooks.map((webhook) => (
                <li key={webhook.id}>
                  <WebhookCard webhook={webhook} />
                </li>
              ))}
            </ul>
          )
        }
      </Read>
      {isNew ? <WebhookDialog close={() => setNew(false)} /> : null}
    </Page>
  )
}

type WebhookAction = 'disable' | 'enable' | 'remove'

const WORDS: Record<WebhookAction, { verb: string; effect: string; done: string }> = {
  disable: {
    verb: 'Disable',
    effect: 'Receives nothing until it is enabled again.',
    done: 'Disabled.',
  },
  enable: { verb: 'Enable', effect: 'Receives new events from now on.', done: 'Enabled.' },
  remove: {
    verb: 'Remove',
    effect: 'Deletes the webhook, its secret and its deliveries. This cannot be undone.',
    done: 'Removed.',
  },
}

function WebhookCard({ webhook }: { webhook: Webhook }) {
  const { url, events, is_active, inactive_reason, waiting, created_by } = webhook
  const [action, setAction] = useState<WebhookAction | null>(null)
  const [isOpen, setOpen] = useState(false)
  const refusal = useRefusal()
  const command = useCommand(({ kind, reason }: { kind: WebhookAction; reason: string }) =>
    kind === 'remove'
      ? removeWebhook(webhook)
      : switchWebhook(webhook, { is_active: kind === 'enable', reason }),
  )
  const toggle = is_active ? 'disable' : 'enable'
  return (
    <section aria-label={`Webhook ${url}`} className="panel flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-mono text-sm font-semibold break-all">{url}</h2>
        <Badge tone={is_active ? 'good' : 'warn'}>{is_active ? 'active' : 'disabled'}</Badge>
        {inactive_reason === null ? null : <span className="text-soft">{inactive_reason}</span>}
      </div>
      <p className="text-soft">
        {events.length === 0 ? 'All events' : events.join(', ')} of {webhook.table}; {showCount(waiting)} to
        be sent; made {created_by === null ? '' : `by ${created_by} `}
        <Time at={webhook.created_at} isRelative />
      </p>
      <div className="flex flex-wrap gap-2">
        <Button isPressed={isOpen} onClick={() => setOpen(!isOpen)}>
          Deliveries
        </Button>
        <Button refusal={refusal('switchWebhook')} onClick={() => setAction(toggle)}>
          {WORDS[toggle].verb}
        </Button>
        <Button refusal={refusal('removeWebhook')} onClick={() => setAction('remove')}>
          Remove
        </Button>
      </div>
      {isOpen ? <Deliveries webhook={webhook} /> : null}
      {action === null ? null : (
        <ChangeDialog
          title={`${WORDS[action].verb} the webhook`}
          verb={`${WORDS[action].verb} it`}
          effect={WORDS[action].effect}
          isDanger={action === 'remove'}
          cli={() => cliLine(['webhooks', action, webhook.id])}
          close={() => setAction(null)}
          run={async ({ reason }) => {
            await command.mutateAsync({ kind: action, reason })
            say(WORDS[action].done)
          }}
        />
      )}
    </section>
  )
}

const TONES: Record<Delivery['status'], Tone> = { waiting: 'info', delivered: 'good', failed: 'bad' }

function Deliveries({ webhook }: { webhook: Webhook }) {
  const answer = useDeliveries(webhook.id)
  return (
    <Read what="The deliveries" from={answer}>
      {({ deliveries }) =>
        deliveries.length === 0 ? (
          <p className="text-soft">No deliveries yet.</p>
        ) : (
          <Table name="deliveries" columns={['When', 'Event', 'Job', 'State', 'Tries', 'Answer', '']}>
            {deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} />
            ))}
          </Table>
        )
      }
    </Read>
  )
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { id, table, job_id, type, status, tries, next_try_in_ms, last_status, last_error } = delivery
  const refusal = useRefusal()
  const command = useCommand(redeliver)
  return (
    <tr className="border-t border-line">
      <td className="py-1.5 pr-4">
        <Time at={delivery.created_at} />
      </td>
      <td className="pr-4">{type}</td>
      <td className="pr-4 font-mono text-xs">
        <JobId id={job_id} table={table} />
      </td>
      <td className="pr-4">
        <Badge tone={TONES[status]}>{status}</Badge>
      </td>
      <td className="pr-4 whitespace-nowrap">
        {tries}
        {next_try_in_ms === null || status !== 'waiting'
          ? ''
          : `, next in ${showDuration(Math.max(0, next_try_in_ms))}`}
      </td>
      <td className="max-w-64 truncate pr-4 text-soft" title={last_error ?? undefined}>
        {last_status ?? last_error ?? '–'}
      </td>
      <td>
        <Button
          label={`Redeliver ${type} of ${shortId(job_id)}`}
          refusal={
            refusal('redeliver') ?? (status === 'waiting' ? 'This delivery is pending already.' : null)
          }
          isBusy={command.isPending}
          onClick={() =>
            command.mutate(
              { id, table },
              {
                onSuccess: () => say('Sending it again.'),
                onError: (error) => say(messageOf(error), { isBad: true }),
              },
            )
          }
        >
          Redeliver
        </Button>
      </td>
    </tr>
  )
}
