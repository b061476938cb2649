import { type Command, Option } from 'commander'
import {
  addWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
  switchWebhook,
} from '../../commands/webhook-commands.ts'
import { exitCodes } from '../../errors/index.ts'
import { eventTypes } from '../../job/event-types.ts'
import type { DeliveryStatus, Webhook } from '../../store/job-store.ts'
import { valueOf, withCommands, withTableNames } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { readCount, withTable } from '../jobs/job-flags.ts'
import { showDuration, showTime } from '../terminal/duration.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface AddFlags extends TableFlags {
  event?: string[]
  secret?: string
}

interface SwitchFlags extends TableFlags {
  reason?: string
}

interface DeliveriesFlags extends TableFlags {
  webhook?: string
  status?: DeliveryStatus
  limit: number
}

export function defineWebhooks(webhooks: Command): void {
  withConnection(webhooks.command('add'))
    .description('adds a webhook and prints its signing secret once')
    .argument('<url>', 'https://…')
    .option('--event <type...>', `only these events: ${eventTypes.join(', ')}`)
    .option('--secret <secret>', 'whsec_ and base64; default: a new one')
    .option('--table <name>', 'table of the profile; default: the first')
    .addHelpText('after', example('unstuck webhooks add https://example.com/hooks --event failed'))
    .action(addCommand)
  withTable(withConnection(webhooks.command('list')))
    .description('lists webhooks; exit code 1 if a webhook is inactive')
    .addHelpText('after', example('unstuck webhooks list'))
    .action(listCommand)
  withTable(withConnection(webhooks.command('remove')))
    .description('removes the webhook and drops pending deliveries')
    .argument('<webhook>', 'webhook id')
    .addHelpText('after', example('unstuck webhooks remove 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action(removeCommand)
  withTable(withConnection(webhooks.command('enable')))
    .description('enables a webhook, including one disabled because its receiver was gone')
    .argument('<webhook>', 'webhook id')
    .addHelpText('after', example('unstuck webhooks enable 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action((webhookId: string, flags: TableFlags) => switchCommand(webhookId, true, flags))
  withTable(withConnection(webhooks.command('disable')))
    .description('disables a webhook until it is enabled again')
    .argument('<webhook>', 'webhook id')
    .option('--reason <text>', 'reason, shown in the list')
    .addHelpText('after', example('unstuck webhooks disable 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action((webhookId: string, flags: SwitchFlags) => switchCommand(webhookId, false, flags))
  withTable(withConnection(webhooks.command('deliveries')))
    .description('lists deliveries, newest first')
    .option('--webhook <id>', 'only this webhook')
    .addOption(
      new Option('--status <status>', 'only this status').choices(['waiting', 'delivered', 'failed']),
    )
    .option('--limit <count>', 'maximum number', readCount, 20)
    .addHelpText('after', example('unstuck webhooks deliveries --status failed'))
    .action(deliveriesCommand)
  withTable(withConnection(webhooks.command('redeliver')))
    .description('sends a delivery again, with the same id')
    .argument('<delivery>', 'delivery id')
    .addHelpText('after', example('unstuck webhooks redeliver 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action(redeliverCommand)
}

async function addCommand(url: string, flags: AddFlags): Promise<void> {
  const { event: events, secret: given } = flags
  await withCommands(flags, async (context) => {
    const added = valueOf(await addWebhook(context, { url, events, secret: given }))
    const { table, webhook, secret } = added
    if (flags.json === true) return printJson({ table, ...webhook, secret })
    printLine(`webhook ${webhook.webhookId} receives ${showEvents(webhook)} of ${table}`)
    printLine(`secret  ${secret}`)
    printLine('It cannot be shown again. The receiver verifies the header webhook-signature with it.')
  })
}

const showEvents = ({ events }: Webhook) => (events.length === 0 ? 'all events' : events.join(', '))

async function listCommand(flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const webhooks = withTableNames(valueOf(await listWebhooks(context, {})))
    if (webhooks.some(({ isActive }) => !isActive)) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ webhooks })
    if (webhooks.length === 0) return printLine('no webhooks')
    printTable([
      ['TABLE', 'WEBHOOK', 'URL', 'EVENTS', 'WAITING', 'ACTIVE', 'ADDED BY'],
      ...webhooks.map((webhook) => [
        webhook.table,
        webhook.webhookId,
        webhook.url,
        showEvents(webhook),
        String(webhook.waiting),
        webhook.isActive ? 'yes' : `no: ${webhook.inactiveReason ?? ''}`,
        webhook.createdBy ?? '–',
      ]),
    ])
  })
}

async function removeCommand(webhookId: string, flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { table } = valueOf(await removeWebhook(context, { webhookId }))
    if (flags.json === true) return printJson({ table, webhookId })
    printLine(`webhook ${webhookId} removed`)
  })
}

async function switchCommand(webhookId: string, isActive: boolean, flags: SwitchFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const input = { webhookId, isActive, reason: flags.reason }
    const { table, webhook } = valueOf(await switchWebhook(context, input))
    if (flags.json === true) return printJson({ table, webhook })
    printLine(`webhook ${webhookId} is ${isActive ? 'active: it receives new events' : 'disabled'}`)
  })
}

async function deliveriesCommand(flags: DeliveriesFlags): Promise<void> {
  const { webhook: webhookId, status, limit } = flags
  await withCommands(flags, async (context) => {
    const deliveries = withTableNames(valueOf(await listDeliveries(context, { webhookId, status, limit })))
    if (flags.json === true) return printJson({ deliveries })
    if (deliveries.length === 0) return printLine('no deliveries')
    printTable([
      ['TABLE', 'DELIVERY', 'JOB', 'EVENT', 'WRITTEN', 'STATUS', 'TRIES', 'NEXT TRY', 'LAST ANSWER'],
      ...deliveries.map((delivery) => [
        delivery.table,
        delivery.deliveryId,
        delivery.jobId,
        delivery.type,
        showTime(delivery.createdAt),
        delivery.status,
        String(delivery.tries),
        delivery.nextTryInMs === null ? '–' : `in ${showDuration(delivery.nextTryInMs)}`,
        delivery.lastError ?? (delivery.lastStatus === null ? '–' : String(delivery.lastStatus)),
      ]),
    ])
  })
}

async function redeliverCommand(deliveryId: string, flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { table } = valueOf(await redeliver(context, { deliveryId }))
    if (flags.json === true) return printJson({ table, deliveryId })
    printLine(`delivery ${deliveryId} is due again; a running worker sends it within seconds`)
  })
}
