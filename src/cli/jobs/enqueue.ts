import { type Command, InvalidArgumentError } from 'commander'
import { given } from '../../commands/given.ts'
import { enqueueJob } from '../../commands/jobs/job-commands.ts'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { JsonValue, NewJob } from '../../job/job.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { readDuration } from '../terminal/duration.ts'
import { printJson, printLine } from '../terminal/output.ts'

interface EnqueueFlags extends TableFlags {
  queue?: string
  priority?: number
  delay?: number
  ttl?: number
  maxAttempts?: number
  dedupeKey?: string
  dedupeFor?: number
  replace?: boolean
  owner?: string
  group?: string
}

export function defineEnqueue(command: Command): void {
  withConnection(command)
    .argument('<type>', 'job type')
    .argument('[json]', 'payload')
    .option('--table <name>', 'table of the profile; default: the first')
    .option('--queue <queue>', 'default: the type')
    .option('--priority <number>', 'lower runs first; default: 0', readWhole)
    .option('--delay <duration>', 'start after 30s, 10m, 2h, 1d', readDuration)
    .option('--ttl <duration>', 'do not start it after 30s, 10m, 2h, 1d', readDuration)
    .option('--max-attempts <number>', 'failures until it is dead; default: the policy', readWhole)
    .option('--dedupe-key <key>', 'enqueue nothing if an unfinished job has this key')
    .option('--dedupe-for <duration>', 'at most one job per key in this time', readDuration)
    .option('--replace', 'replace the waiting job that has the key')
    .option('--owner <owner>', 'user or tenant')
    .option('--group <group>', 'jobs of one group share the group limits of their queue')
    .addHelpText('after', example(`unstuck enqueue asr '{ "clip": 42 }'`))
    .action(enqueueCommand)
}

async function enqueueCommand(type: string, json: string | undefined, flags: EnqueueFlags): Promise<void> {
  const payload = json === undefined ? undefined : readPayload(json)
  const { queue, priority, delay: delayMs, ttl: ttlMs, maxAttempts, owner, group } = flags
  const fields = { payload, queue, priority, delayMs, ttlMs, maxAttempts, owner, group, ...dedupeOf(flags) }
  const job = { type, ...given(fields) }
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

function dedupeOf({
  dedupeKey,
  dedupeFor: forMs,
  replace,
}: EnqueueFlags): Partial<Pick<NewJob, 'dedupe' | 'dedupeKey'>> {
  if (forMs === undefined && replace === undefined) return given({ dedupeKey })
  if (dedupeKey === undefined)
    throw invalidArgument('--dedupe-key', undefined, 'a key beside --dedupe-for and --replace')
  return { dedupe: { key: dedupeKey, ...given({ forMs, replace }) } }
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

function readWhole(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Must be a whole number.')
}
