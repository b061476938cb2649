// Counts that stop at the server's limit.
import { showCount } from './show-time.ts'

export interface Total {
  count: number
  /** There may be more. */
  isAtLeast: boolean
}

type Counted<Name extends string> = Record<Name, number> & { at_least: readonly string[] }

export function totalOf<Name extends string>(records: readonly Counted<Name>[], name: Name): Total {
  return {
    count: records.reduce((total, record) => total + record[name], 0),
    isAtLeast: records.some(({ at_least }) => at_least.includes(name)),
  }
}

/** `12`, or `≥ 100,000`. */
export const showTotal = ({ count, isAtLeast }: Total) => `${isAtLeast ? '≥ ' : ''}${showCount(count)}`

/** `1 job`, or `≥ 100,000 jobs`. */
export const showTotalOf = (total: Total, word: string) =>
  `${showTotal(total)} ${word}${total.count === 1 && !total.isAtLeast ? '' : 's'}`
