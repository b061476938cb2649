import type { Command } from 'commander'
import { diagnoseAll } from '../../compose/index.ts'
import type { Finding, Level } from '../../doctor/finding.ts'
import { exitCodes } from '../../errors/index.ts'
import { type ConnectionFlags, loadCommandConfig } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { Colour } from '../terminal/colour.ts'
import { printJson, printLine, printProgress, terminalLines } from '../terminal/output.ts'

interface DoctorFlags extends ConnectionFlags {
  quiet?: boolean
}

export function defineDoctor(command: Command): void {
  withConnection(command)
    .option('--quiet', 'print only problems, one line each, on stderr')
    .addHelpText('after', example('unstuck doctor --profile clip'))
    .action(doctorCommand)
}

/** Read-only. Warnings alone exit with 0. */
async function doctorCommand(flags: DoctorFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const findings = await diagnoseAll(config)
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems > 0) process.exitCode = exitCodes.problemFound
  if (flags.json === true) {
    return printJson({ schema: config.schema, profile: config.profile, problems, warnings, findings })
  }
  if (flags.quiet === true) return printQuietly(findings)
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const finding of findings) printFinding(finding, width)
  printLine(`${counted(warnings, 'warning')}, ${counted(problems, 'problem')}`)
}

const marks: Record<Level, string> = { fine: '✓', warning: '⚠', problem: '✗' }

const colours: Record<Level, Colour> = { fine: 'green', warning: 'yellow', problem: 'red' }

function printFinding({ check, level, message, fix }: Finding, width: number): void {
  const indent = width + 4
  const [first = '', ...rest] = terminalLines(`${marks[level]} ${check.padEnd(width)}  ${message}`, indent)
  printLine([[marks[level], colours[level]], first.slice(marks[level].length)])
  for (const line of rest) printLine(line)
  // A command or SQL to copy: not broken.
  if (fix !== null) printLine(`${' '.repeat(indent)}${fix}`)
}

function printQuietly(findings: Finding[]): void {
  for (const { check, level, message, fix } of findings) {
    if (level !== 'problem') continue
    printProgress(`unstuck: ${check}: ${message}${fix === null ? '' : ` — ${fix}`}`)
  }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
