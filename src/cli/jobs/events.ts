import { type Command, Option } from 'commander'
import { type Deployment, openDeployment } from '../../compose/index.ts'
import { exitCodes } from '../../errors/index.ts'
import { eventTypes } from '../../job/event-types.ts'
import type { JsonValue } from '../../job/job.ts'
import { redactJson } from '../../observe/redact.ts'
import type { FeedEvent } from '../../store/access-store.ts'
import { loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { selectTables, type TableFlags, withSilence } from '../connection/with-tables.ts'
import { showAgo } from '../terminal/duration.ts'
import { endSignal } from '../terminal/end-signal.ts'
import { escapeControls, safeJson } from '../terminal/escape-controls.ts'
import { printJson, printLine, printWrapped, writeOut } from '../terminal/output.ts'
import { type EventFilter, followEvents, latestEvents } from './event-tail.ts'
import { readCount, withTable } from './job-flags.ts'

interface EventsFlags extends TableFlags {
  follow?: boolean
  jsonl?: boolean
  limit: number
  type?: string
  job?: string
}

export function defineEvents(command: Command): void {
  withTable(withConnection(command))
    .option('--follow', 'stream new events until Ctrl-C')
    .option('--jsonl', 'one JSON object per line')
    .option('--limit <events>', 'maximum number of past events', readCount, 50)
    .addOption(new Option('--type <type>', 'only this type').choices(eventTypes))
    .option('--job <id>', 'only this job; a prefix of its id is enough')
    .addHelpText('after', example('unstuck events --follow --type reaper:requeued'))
    .action(eventsCommand)
}

async function eventsCommand(flags: EventsFlags): Promise<void> {
  const deployment = openDeployment(loadCommandConfig(flags))
  try {
    await withSilence(() => showEvents(deployment, flags))
  } finally {
    await deployment.close()
  }
}

async function showEvents(deployment: Deployment, flags: EventsFlags): Promise<void> {
  const attachment =
    flags.table === undefined ? undefined : selectTables(deployment, flags)[0].table.attachment
  const fits: EventFilter = (event) =>
    (attachment === undefined || event.attachment === attachment) &&
    (flags.type === undefined || event.type === flags.type) &&
    (flags.job === undefined || event.jobId.startsWith(flags.job))
  const { access } = deployment
  // Before the first line: a reader may send the signal at once.
  const signal = flags.follow === true ? stopOnSignals() : null
  const { events, position } = await latestEvents(access, flags.limit, fits)
  if (flags.json === true && signal === null) return printJson({ events: events.map(shown) })
  const now = process.stdout.isTTY ? (await access.readClock()).now : null
  const hasTables = deployment.tables.length > 1
  for (const event of events) await print(event, flags, { hasTables, now })
  if (signal === null) {
    if (events.length === 0 && flags.jsonl !== true) printLine('no matching events')
    return
  }
  // From where the last read ended: an event that was recorded while the past ones were printed is new.
  for await (const event of followEvents(access, position, { fits, signal }))
    await print(event, flags, { hasTables, now: null })
}

function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  void endSignal().then((signal) => {
    if (signal === 'SIGINT') process.exitCode = exitCodes.interrupted
    stop.abort()
  })
  return stop.signal
}

/** As in the HTTP API: without lease ids, which are credentials, and with secrets redacted. */
function shown({ id, jobId, type, at, data }: FeedEvent) {
  const { lease_id: _credential, ...details } = data.details
  return { id, jobId, table: data.table, type, at, details: redactJson(details) as Record<string, JsonValue> }
}

interface Look {
  hasTables: boolean
  /** The database's, for past events in a terminal. */
  now: Date | null
}

/** A pipe gets one line with the exact time; a terminal gets lines that fit it, without the name of a single table. */
async function print(
  event: FeedEvent,
  { json, jsonl }: EventsFlags,
  { hasTables, now }: Look,
): Promise<void> {
  const { jobId, table, type, at, details } = shown(event)
  if (json === true || jsonl === true) return writeOut(`${safeJson(shown(event))}\n`)
  const facts = Object.entries(details).filter(([, value]) => value !== null)
  const texts = facts.map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  if (!process.stdout.isTTY) {
    const line = `${at.toISOString()}  ${table}  ${jobId}  ${type}  ${texts.join(' · ')}`.trimEnd()
    return writeOut(`${escapeControls(line)}\n`)
  }
  const when = (now === null ? showClock(at) : showAgo(at, now)).padEnd(WHEN)
  const where = hasTables ? `${table}  ` : ''
  const head = `${when}  ${where}${jobId}  ${type}  `
  printWrapped(head + texts.join(' · '), WHEN + 2)
}

/** As wide as `59 min ago`. */
const WHEN = 10

/** `14:28:15Z`: a line that stays on the screen cannot count up. */
const showClock = (time: Date) => `${time.toISOString().slice(11, 19)}Z`
