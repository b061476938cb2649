import { openDeployment } from '../../compose.ts'
import { exitCodes } from '../../errors/index.ts'
import type { Health, ReapedJob } from '../../store/job-store.ts'
import { type ConnectionFlags, loadCommandConfig } from '../command-config.ts'
import { printJson, printLine, printTable } from '../output.ts'

/** How every table of the profile is. Exit code 1 where jobs are past their lease for longer than a sweep may take. */
export async function statusCommand(flags: ConnectionFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const deployment = openDeployment(config)
  try {
    const tables: { table: string; health: Health; sweepIntervalMs: number }[] = []
    for (const { name, store } of deployment.tables) {
      const { sweepIntervalMs } = await store.readPolicy()
      const intervalMs = config.policy.sweepIntervalMs ?? sweepIntervalMs
      tables.push({
        table: name,
        health: await store.readHealth({ policy: config.policy }),
        sweepIntervalMs: intervalMs,
      })
    }
    if (tables.some(({ health, sweepIntervalMs }) => isLate(health, sweepIntervalMs))) {
      process.exitCode = exitCodes.problemFound
    }
    if (flags.json === true) return printJson({ schema: config.schema, profile: config.profile, tables })
    for (const { table, health, sweepIntervalMs } of tables) printHealth(table, health, sweepIntervalMs)
  } finally {
    await deployment.close()
  }
}

const isLate = ({ oldestOverdueMs, holdReason }: Health, sweepIntervalMs: number) =>
  holdReason === null && oldestOverdueMs !== null && oldestOverdueMs > 3 * sweepIntervalMs

function printHealth(table: string, health: Health, sweepIntervalMs: number): void {
  const { waiting, due, running, overdue, oldestOverdueMs, oldestDueMs, unjudged, reaperAgeMs, holdReason } =
    health
  printLine(table)
  printTable([
    [
      '  waiting',
      String(waiting),
      `due ${due}${oldestDueMs === null ? '' : `, oldest for ${duration(oldestDueMs)}`}`,
    ],
    [
      '  running',
      String(running),
      `past their lease ${overdue}${oldestOverdueMs === null ? '' : `, oldest by ${duration(oldestOverdueMs)}`}`,
    ],
  ])
  if (unjudged > 0)
    printLine(`  ! ${unjudged} running without a lease or any time to judge them by: unstuck reap --dry-run`)
  if (holdReason !== null) printLine(`  ! the reaper holds leases that ended in an outage (${holdReason})`)
  if (reaperAgeMs === null) printLine('  ✗ nobody has swept yet: start a worker, or unstuck reap')
  else if (reaperAgeMs > 3 * sweepIntervalMs)
    printLine(`  ✗ last sweep ${duration(reaperAgeMs)} ago: start a worker, or unstuck reap`)
  else printLine(`  last sweep ${duration(reaperAgeMs)} ago`)
}

/** Jobs that are past their lease now. Exit code 1 where there are any. */
export async function stuckCommand(flags: ConnectionFlags): Promise<void> {
  const config = loadCommandConfig(flags)
  const deployment = openDeployment(config)
  try {
    const stuck: (ReapedJob & { table: string })[] = []
    for (const { name, store } of deployment.tables) {
      for (const job of await store.previewSweep({ policy: config.policy }))
        stuck.push({ table: name, ...job })
    }
    if (stuck.length > 0) process.exitCode = exitCodes.problemFound
    if (flags.json === true) return printJson({ stuck })
    if (stuck.length === 0) return printLine('no job is stuck')
    const rows = stuck.map(({ table, jobId, stage, reason, workerId, attempt, action }) => [
      table,
      jobId,
      stage ?? '',
      reason,
      workerId ?? '',
      String(attempt),
      action,
    ])
    printTable([['TABLE', 'JOB', 'STAGE', 'WHY', 'WORKER', 'ATTEMPT', 'A SWEEP MAKES IT'], ...rows])
    printLine('Next:  unstuck reap --once')
  } finally {
    await deployment.close()
  }
}

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}
