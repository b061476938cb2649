import type { Command } from 'commander'
import { explainJob } from '../../commands/jobs/job-commands.ts'
import { showProgress } from '../../job/show-progress.ts'
import type { Explanation } from '../../policy/explain/explain-job.ts'
import type { JobFacts } from '../../policy/explain/job-facts.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import type { TableFlags } from '../connection/with-tables.ts'
import { printJson, printLine, printWrapped } from '../terminal/output.ts'
import { printRemedies } from '../terminal/print-remedies.ts'
import { findJob } from './find-job.ts'
import { withTable } from './job-flags.ts'

export function defineWhy(command: Command): void {
  withTable(withConnection(command))
    .argument('<id>', 'job id, or a prefix of it')
    .addHelpText('after', example('unstuck why 0190a1b2c3d4'))
    .action(whyCommand)
}

async function whyCommand(prefix: string, flags: TableFlags): Promise<void> {
  await withCommands(flags, async (context) => {
    const { table, jobId } = await findJob(context.tables, prefix)
    const ref = { id: jobId, table: table.name }
    const { id: _id, facts, ...explanation } = valueOf(await explainJob(context, ref))
    if (flags.json === true) return printJson({ jobId, ...explanation, facts })
    printExplanation(facts, explanation)
  })
}

function printExplanation(facts: JobFacts, { reasons, sentence }: Explanation): void {
  const { jobId, type, status, attempt, maxAttempts, progress } = facts
  printLine(`job ${jobId}  ${type}  ${status}, attempt ${attempt} of ${maxAttempts}`)
  if (progress !== null) printLine(`progress ${showProgress(progress)}`)
  printLine()
  const width = Math.max(...reasons.map(({ code }) => code.length))
  for (const { code, isBlocking, message } of reasons)
    printWrapped(`${isBlocking ? '✗' : '·'} ${code.padEnd(width)}  ${message}`, width + 4)
  const fine = checksPassed(facts)
  if (fine.length > 0) printWrapped(fine.map((check) => `✓ ${check}`).join(' · '), 2)
  printLine()
  printWrapped(sentence, 0)
  printRemedies(reasons.flatMap(({ remedies = [] }) => remedies))
}

function checksPassed({ status, type, pause, breaker, workers, isLocked, hasBudget }: JobFacts): string[] {
  if (status !== 'waiting') return []
  const checks: [isFine: boolean, text: string][] = [
    [pause === null, 'queue not paused'],
    [breaker?.state === 'closed', `breaker ${breaker?.name ?? ''} closed`],
    [hasBudget, 'attempts left'],
    [(workers?.handling ?? 0) > 0, showWorkers(type, workers)],
    [isLocked === false, 'row not locked'],
  ]
  return checks.filter(([isFine]) => isFine).map(([, text]) => text)
}

function showWorkers(type: string, workers: JobFacts['workers']): string {
  const { handling, slots, busy } = workers ?? { handling: 0, slots: 0, busy: 0 }
  const who = handling === 1 ? '1 worker handles' : `${handling} workers handle`
  return `${who} ${type}, ${Math.max(0, slots - busy)} slots free`
}
