import type { DoctorFacts } from '../facts.ts'
import { type Finding, fine, problem } from '../finding.ts'

export function checkMigrations({ migrations }: Pick<DoctorFacts, 'migrations'>): Finding[] {
  if (migrations === null) return []
  const { isInstalled, applied, pending, unknown, engine, tables } = migrations
  const check = 'migrations'
  if (!isInstalled) return [problem(check, 'nothing is installed', 'unstuck migrate up')]
  const findings: Finding[] = []
  if (unknown.length > 0) {
    const message = `${unknown.join(', ')} applied by a newer version of unstuck`
    findings.push(problem(check, message, 'npm install unstuck@latest'))
  }
  if (pending.length > 0)
    findings.push(problem(check, `not applied: ${pending.join(', ')}`, 'unstuck migrate up'))
  if (engine !== 'current') findings.push(problem(check, `engine: ${engine}`, 'unstuck migrate up'))
  for (const { table, state } of tables) {
    if (state !== 'current') findings.push(problem(check, `${table}: ${state}`, 'unstuck migrate up'))
  }
  if (findings.length > 0) return findings
  return [fine(check, `${applied.length} of ${applied.length} applied, no drift`)]
}
