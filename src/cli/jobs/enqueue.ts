import { type Command, InvalidArgumentError } from 'commander'
import { given } from '../../commands/given.ts'
import { enqueueJob } from '../../commands/jobs/job-commands.ts'
import { UnstuckError } from '../../errors/index.ts'
import type { JsonValue } from '../../job/job.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { readDuration } from '../terminal/duration.ts'
import { printJson, printLine } from '../terminal/output.ts'

interface EnqueueFlags extends TableFlags {
  queue?: string
  priority?: number
  delay?: number
  dedupeKey?: string
  owner?: string
  group?: string
}

export function defineEnqueue(command: Command): void {
  withConnection(command)
    .argument('<type>', 'job type')
    .argument('[json]', 'payload')
    .option('--table <name>', 'table of the profile; default: the first')
    .option('--queue <queue>', 'default: the type')
    .option('--priority <number>', 'lower runs first; default: 0', readPriority)
    .option('--delay <duration>', 'start after 30s, 10m, 2h, 1d', readDuration)
    .option('--dedupe-key <key>', 'enqueue nothing if an unfinished job has this key')
    .option('--owner <owner>', 'user or tenant')
    .option('--group <group>', 'jobs of a group share the limits of their queue for groups')
    .addHelpText('after', example(`unstuck enqueue asr '{ "clip": 42 }'`))
    .action(enqueueCommand)
}

async function enqueueCommand(
  type: string,
  json: string | undefined,
  { queue, priority, delay: delayMs, dedupeKey, owner, group, ...flags }: EnqueueFlags,
): Promise<void> {
  const payload = json === undefined ? undefined : readPayload(json)
  const job = { type, ...given({ payload, queue, priority, delayMs, dedupeKey, owner, group }) }
  await withCommands(flags, async (context) => {
    const { id, table, outcome } = valueOf(await enqueueJob(context, { job, table: flags.table }))
    if (flags.json === true) return printJson({ id, table, outcome })
    printLine(`job ${id} in ${table}: ${outcomes[outcome]}`)
    printLine(`Next:  unstuck why ${id}`)
  })
}

const outcomes = {
  created: 'enqueued',
  duplicate: 'already has this dedupe key, nothing was enqueued',
  replaced: 'had this dedupe key and was replaced',
}

function readPayload(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new UnstuckError('INVALID_ARGUMENT', 'payload: not JSON', {
      hint: `Quote it for the shell: '{ "clip": 42 }'`,
    })
  }
}

function readPriority(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Must be a whole number.')
}
