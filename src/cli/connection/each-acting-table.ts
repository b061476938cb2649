import type { DeploymentTable } from '../../compose/index.ts'
import { isOutage, isUnstuckError, UnstuckError } from '../../errors/index.ts'

/** A table in observe mode, or a shard that is down, does not stop the others: they are reported first, then it fails. */
export async function eachActingTable<T>(
  tables: DeploymentTable[],
  act: (table: DeploymentTable) => Promise<T>,
  report: (answers: T[]) => void,
): Promise<void> {
  const answers: T[] = []
  let failure: UnstuckError | undefined
  for (const table of tables) {
    try {
      answers.push(await act(table))
    } catch (error) {
      if (isUnstuckError(error, 'WRONG_MODE')) failure ??= error
      else if (isOutage(error) && tables.length > 1) failure ??= errorOfTable(table.name, error)
      else throw error
    }
  }
  if (answers.length > 0) report(answers)
  if (failure !== undefined) throw failure
}

/** Says in which of several tables it happened. */
export function errorOfTable(name: string, error: UnstuckError): UnstuckError {
  const { code, message, hint, details } = error
  return new UnstuckError(code, `${name}: ${message}`, {
    details: { ...details, table: name },
    ...(hint === undefined ? {} : { hint }),
    cause: error,
  })
}
