import { type Command, InvalidArgumentError, Option } from 'commander'
import { example } from '../cli/connection/with-connection.ts'
import { actNames, type Fault, faults } from './demo-settings.ts'

interface DemoFlags {
  databaseUrl?: string
  seed?: number
  acts?: string[]
  speed: number
  port: number
  serve: boolean
  tui: boolean
  auto?: boolean
  json?: boolean
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'real workers die and their jobs survive, beside a hand-rolled table where they stay stuck; exit code 1 where a job was lost, finished twice, or rescued later than promised',
    )
    .option(
      '--database-url <url>',
      'a server of yours, in a schema that goes away again; an embedded one where absent',
    )
    .option(
      '--seed <number>',
      'decides who dies and how long jobs take; another one each time where absent',
      readSeed,
    )
    .option(
      '--speed <factor>',
      'divides the pauses between the acts; leases and the promise stay',
      readSpeed,
      1,
    )
    .option('--port <number>', 'of the dashboard; the next free one where it is taken', readPort, 4141)
    .addOption(new Option('--acts <names...>', 'only these, in this order').choices(actNames))
    .option('--no-serve', 'without the dashboard')
    .option('--no-tui', 'plain lines instead of a screen')
    .option('--auto', 'the whole storyboard, then the receipt; keys are not heard')
    .option('--json', 'print the receipt as one JSON object; progress goes to stderr')
    .addHelpText('after', example('unstuck demo --auto --no-tui --json --seed 7'))
    .action(demoCommand)
}

async function demoCommand(flags: DemoFlags): Promise<void> {
  const { databaseUrl, speed, json = false } = flags
  const hasTerminal = process.stdout.isTTY && process.stdin.isTTY && process.env['TERM'] !== 'dumb'
  // Loaded here: no other command pays for it.
  const { runDemo } = await import('./run-demo.ts')
  await runDemo({
    databaseUrl,
    acts: flags.acts,
    seed: flags.seed ?? Math.floor(Math.random() * 1_000_000),
    speed,
    port: flags.serve ? flags.port : null,
    isJson: json,
    isAuto: flags.auto ?? !process.stdin.isTTY,
    hasScreen: flags.tui && !json && hasTerminal,
    fault: readFault(process.env['DEMO_FAULT']),
  })
}

/** For tests of the receipt, not for people. */
function readFault(name: string | undefined): Fault | null {
  return faults.find((fault) => fault === name) ?? null
}

function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It takes a whole number from 0 to 999999999.')
}

function readSpeed(text: string): number {
  const factor = Number(text)
  if (factor >= 0.1 && factor <= 100) return factor
  throw new InvalidArgumentError('It takes a number from 0.1 to 100.')
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text)
  throw new InvalidArgumentError('It takes a whole number from 0 to 65535.')
}
