import { type Command, InvalidArgumentError, Option } from 'commander'
import { exitCodes, invalidArgument } from '../../errors/index.ts'
import { eventTypes } from '../../job/event-types.ts'
import { createWebhookSecret } from '../../runtime/webhook-signature.ts'
import type { Delivery, DeliveryStatus, Webhook } from '../../store/job-store.ts'
import { actorName } from '../actor-name.ts'
import { showDuration, showTime } from '../duration.ts'
import { readCount, withTable } from '../job-flags.ts'
import { printJson, printLine, printTable } from '../output.ts'
import { example, withConnection } from '../with-connection.ts'
import { type TableFlags, withTables } from '../with-tables.ts'

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

export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('sends the events of jobs to addresses')
  withConnection(webhooks.command('add'))
    .description('tells an address of events, and prints the secret that signs what it is sent, once')
    .argument('<url>', 'https://…', readUrl)
    .option('--event <type...>', `only these: ${eventTypes.join(', ')}`)
    .option('--secret <secret>', 'whsec_ and base64; a new one where absent')
    .option('--table <name>', 'which table of the profile; its first where absent')
    .addHelpText('after', example('unstuck webhooks add https://example.com/hooks --event failed'))
    .action(addCommand)
  withTable(withConnection(webhooks.command('list')))
    .description('tells every webhook; exit code 1 where one is not active')
    .addHelpText('after', example('unstuck webhooks list'))
    .action(listCommand)
  withTable(withConnection(webhooks.command('remove')))
    .description('sends it nothing more, not even what waits')
    .argument('<webhook>', 'its id, as list shows it')
    .addHelpText('after', example('unstuck webhooks remove 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action(removeCommand)
  withTable(withConnection(webhooks.command('enable')))
    .description('sends to it again, also where its receiver was gone')
    .argument('<webhook>', 'its id, as list shows it')
    .addHelpText('after', example('unstuck webhooks enable 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action((webhookId: string, flags: TableFlags) => switchCommand(webhookId, true, flags))
  withTable(withConnection(webhooks.command('disable')))
    .description('sends it nothing until it is enabled again')
    .argument('<webhook>', 'its id, as list shows it')
    .option('--reason <text>', 'why, shown with it')
    .addHelpText('after', example('unstuck webhooks disable 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action((webhookId: string, flags: SwitchFlags) => switchCommand(webhookId, false, flags))
  withTable(withConnection(webhooks.command('deliveries')))
    .description('tells what was sent and what was not, the newest first')
    .option('--webhook <id>', 'to this one only')
    .addOption(
      new Option('--status <status>', 'in this status only').choices(['waiting', 'delivered', 'failed']),
    )
    .option('--limit <count>', 'at most so many', readCount, 20)
    .addHelpText('after', example('unstuck webhooks deliveries --status failed'))
    .action(deliveriesCommand)
  withTable(withConnection(webhooks.command('redeliver')))
    .description('sends a delivery once more, under the same id')
    .argument('<delivery>', 'its id, as deliveries shows it')
    .addHelpText('after', example('unstuck webhooks redeliver 0190a1b2-c3d4-7e5f-8a6b-0c1d2e3f4a5b'))
    .action(redeliverCommand)
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '') return text
  throw new InvalidArgumentError('It takes an address such as https://example.com/hooks, without a password.')
}

async function addCommand(url: string, flags: AddFlags): Promise<void> {
  const { event: events = [], secret = createWebhookSecret() } = flags
  const unknown = events.find((name) => !eventTypes.some((type) => type === name))
  if (unknown !== undefined) throw invalidArgument('--event', unknown, eventTypes.join(', '))
  await withTables(flags, async ([{ name: table, store }]) => {
    const webhook = await store.addWebhook({ url, secret, events, actor: actorName() })
    if (flags.json === true) return printJson({ table, ...webhook, secret })
    printLine(`webhook ${webhook.webhookId} is told ${showEvents(webhook)} of ${table}`)
    printLine(`secret  ${secret}`)
    printLine('It is not shown again. The receiver checks the header webhook-signature with it.')
  })
}

const showEvents = ({ events }: Webhook) => (events.length === 0 ? 'all events' : events.join(', '))

async function listCommand(flags: TableFlags): Promise<void> {
  await withTables(flags, async (tables) => {
    const webhooks: (Webhook & { table: string })[] = []
    for (const { name, store } of tables)
      for (const webhook of await store.listWebhooks()) webhooks.push({ table: name, ...webhook })
    if (webhooks.some(({ isActive }) => !isActive)) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ webhooks })
    if (webhooks.length === 0) return printLine('there is no webhook')
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

/** Exit code 1 where there is no such webhook. */
async function removeCommand(webhookId: string, flags: TableFlags): Promise<void> {
  await withTables(flags, async (tables) => {
    let isRemoved = false
    for (const { store } of tables) isRemoved ||= await store.removeWebhook(webhookId, { actor: actorName() })
    if (!isRemoved) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ webhookId, isRemoved })
    printLine(isRemoved ? `webhook ${webhookId} is removed` : `there is no webhook ${webhookId}`)
  })
}

/** Exit code 1 where there is no such webhook. */
async function switchCommand(webhookId: string, isActive: boolean, flags: SwitchFlags): Promise<void> {
  const options = {
    actor: actorName(),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  }
  await withTables(flags, async (tables) => {
    let webhook: Webhook | null = null
    for (const { store } of tables) webhook ??= await store.switchWebhook(webhookId, isActive, options)
    if (webhook === null) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ webhookId, webhook })
    if (webhook === null) return printLine(`there is no webhook ${webhookId}`)
    printLine(
      `webhook ${webhookId} is ${isActive ? 'active: what happens from now on is sent' : 'not active'}`,
    )
  })
}

async function deliveriesCommand(flags: DeliveriesFlags): Promise<void> {
  const { webhook: webhookId, status, limit } = flags
  await withTables(flags, async (tables) => {
    const deliveries: (Delivery & { table: string })[] = []
    for (const { name, store } of tables) {
      const filter = {
        ...(webhookId === undefined ? {} : { webhookId }),
        ...(status === undefined ? {} : { status }),
        limit,
      }
      for (const delivery of await store.listDeliveries(filter)) deliveries.push({ table: name, ...delivery })
    }
    if (flags.json === true) return printJson({ deliveries })
    if (deliveries.length === 0) return printLine('there is no delivery')
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

const redelivered = {
  due: 'is sent once more, within seconds where a worker runs',
  inactive: 'is not sent: its webhook is not active',
  'not-found': 'is not known: unstuck webhooks deliveries',
}

/** Exit code 1 where it is not sent. */
async function redeliverCommand(deliveryId: string, flags: TableFlags): Promise<void> {
  await withTables(flags, async (tables) => {
    let outcome: keyof typeof redelivered = 'not-found'
    for (const { store } of tables) if (outcome === 'not-found') outcome = await store.redeliver(deliveryId)
    if (outcome !== 'due') process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ deliveryId, outcome })
    printLine(`delivery ${deliveryId} ${redelivered[outcome]}`)
  })
}
