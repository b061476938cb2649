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

export function defineDemo(command: Command): void {
  command
    .option('--database-url <url>', 'your server, in a temporary schema; default: embedded')
    .option('--seed <number>', 'selects who dies and how long jobs take; default: random', readSeed)
    .option(
      '--speed <factor>',
      'shortens the pauses between acts; leases and the promise do not change',
      readSpeed,
      1,
    )
    .option('--port <number>', 'dashboard port; the next free one if taken', readPort, 4141)
    .addOption(new Option('--acts <names...>', 'only these acts, in this order').choices(actNames))
    .option('--no-serve', 'no dashboard')
    .option('--no-tui', 'plain lines instead of a screen')
    .option('--auto', 'play the whole storyboard, then print the receipt; ignore keys')
    .option('--json', 'print the receipt as one JSON object; progress goes to stderr')
    .addHelpText('after', example('unstuck demo --auto --no-tui --json --seed 7'))
    .action(demoCommand)
}

async function demoCommand(flags: DemoFlags): Promise<void> {
  const { databaseUrl, speed, json = false } = flags
  const hasTerminal = process.stdout.isTTY && process.stdin.isTTY && process.env['TERM'] !== 'dumb'
  // Loaded on demand: other commands start without it.
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

/** For tests of the receipt. */
function readFault(name: string | undefined): Fault | null {
  return faults.find((fault) => fault === name) ?? null
}

function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Must be a whole number from 0 to 999999999.')
}

function readSpeed(text: string): number {
  const factor = Number(text)
  if (factor >= 0.1 && factor <= 100) return factor
  throw new InvalidArgumentError('Must be a number from 0.1 to 100.')
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text)
  throw new InvalidArgumentError('Must be a whole number from 0 to 65535.')
}
