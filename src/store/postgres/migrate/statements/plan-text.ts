import type { AttachPlan, PlanStep } from '../attach-plan.ts'
import { commentText } from './statement-text.ts'

/** A plan as a readable script for psql. */
export function planText(plan: AttachPlan): string {
  const parts = plan.steps.map(({ title, isTransaction, statements }, index) => {
    const how = isTransaction ? '' : ': each statement alone, not in a transaction'
    const head = commentText(`${index + 1}. ${title}${how}`)
    const body = isTransaction
      ? ['begin;', plan.limitLocks, ...statements, 'commit;']
      : withLimits(plan, statements)
    return [head, ...body].join('\n\n')
  })
  return `${parts.join('\n\n')}\n`
}

/** Concurrent builds may wait longer, because they block nobody. */
export function withLimits(
  { limitLocks, limitWaits }: Pick<AttachPlan, 'limitLocks' | 'limitWaits'>,
  statements: string[],
): string[] {
  const limitOf = (statement: string) =>
    /^(create|drop)\s+(unique\s+)?index\s+concurrently\b/.test(statement) ? limitWaits : limitLocks
  return statements.flatMap((statement, index) => {
    const isSame = index > 0 && limitOf(statements[index - 1] ?? '') === limitOf(statement)
    return isSame ? [statement] : [limitOf(statement), statement]
  })
}

/** The statements of one kind without begin and commit, which migration tools add. */
export function statementsOf(steps: PlanStep[], isTransaction: boolean): string[] {
  return steps.filter((step) => step.isTransaction === isTransaction).flatMap(({ statements }) => statements)
}
