import type { Policy } from '../../policy/policy.ts'
import { type ConfigProblem, nameInFile, problem } from '../config-problem.ts'

/** Rows of an attached table belong to the team: only the native table can delete completed jobs. */
export function checkKeptRows(
  { keepCompleted, typeKeepCompleted }: Policy,
  profile: string,
  problems: ConfigProblem[],
): void {
  const takes = `true with the profile ${profile}: completed jobs can be deleted only in the native table`
  if (!keepCompleted) problems.push(problem(nameInFile('policy.keepCompleted'), keepCompleted, takes))
  else if (Object.keys(typeKeepCompleted).length > 0)
    problems.push(
      problem(nameInFile('policy.typeKeepCompleted'), typeKeepCompleted, takes.replace('true', 'no types')),
    )
}
