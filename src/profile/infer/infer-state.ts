// Infers the state of a table without a status from its times: of the lock, of the success, of the failure.
import type { StateColumns } from '../profile.ts'
import { isTimeType } from '../time-type.ts'
import { LOCK, START } from './sign-of-life.ts'
import { inSnakeCase } from './snake-case.ts'
import type { TableShape } from './table-shape.ts'

const SUCCEEDED = /^(completed|succeeded|finished|done|processed|ended)_(at|on)$/
const DEAD = /^(failed|dead|discarded|errored|gave_up)_(at|on)$/

export function inferState({ columns }: TableShape): StateColumns | undefined {
  const find = (pattern: RegExp) =>
    Object.keys(columns).find((name) => {
      const { type = '', isNullable = false, isGenerated = false } = columns[name] ?? {}
      return pattern.test(inSnakeCase(name)) && isTimeType(type) && isNullable && !isGenerated
    })
  const [succeeded, dead] = [find(SUCCEEDED), find(DEAD)]
  // A start stays set when the job has ended, so it needs a time that says so.
  const running = find(LOCK) ?? (succeeded === undefined ? undefined : find(START))
  if (running === undefined) return undefined
  return {
    running,
    ...(succeeded === undefined ? {} : { succeeded }),
    ...(dead === undefined ? {} : { dead }),
  }
}

export function stateQuestions({ running, succeeded, dead }: StateColumns): string[] {
  return [
    `stateColumns.running: ${running}: is it NULL unless a worker has the row? Requeueing clears it.`,
    ...(succeeded === undefined
      ? ['stateColumns.succeeded: no such time: stuck jobs are requeued, but unstuck claims none.']
      : []),
    dead === undefined
      ? 'stateColumns.dead: no such time: a job that spent its budget keeps its lock.'
      : `stateColumns.dead: ${dead}: is it set only when a job is not tried again?`,
  ]
}
