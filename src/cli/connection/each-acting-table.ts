import type { DeploymentTable } from '../../compose/index.ts'
import { isUnstuckError, type UnstuckError } from '../../errors/index.ts'

/** A table in observe mode does not stop the others: they are reported first, then its refusal is thrown. */
export async function eachActingTable<T>(
  tables: DeploymentTable[],
  act: (table: DeploymentTable) => Promise<T>,
  report: (answers: T[]) => void,
): Promise<void> {
  const answers: T[] = []
  let refusal: UnstuckError | undefined
  for (const table of tables) {
    try {
      answers.push(await act(table))
    } catch (error) {
      if (!isUnstuckError(error, 'WRONG_MODE')) throw error
      refusal ??= error
    }
  }
  if (answers.length > 0) report(answers)
  if (refusal !== undefined) throw refusal
}
