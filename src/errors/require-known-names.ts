import { closestName } from './closest-name.ts'
import { showValue } from './show-value.ts'
import { UnstuckError } from './unstuck-error.ts'

/** `unstuck(): unknown option concurency — did you mean concurrency? It takes …`: a typo would go unnoticed. */
export function requireKnownNames(
  where: string,
  given: readonly string[],
  known: readonly string[],
  kind: 'option' | 'field' | 'event' = 'option',
): void {
  const unknown = given.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const closest = closestName(unknown, known)
  const shown = /^[\w:-]{1,40}$/.test(unknown) ? unknown : showValue(unknown)
  const proposal = closest === undefined ? '.' : ` — did you mean ${closest}?`
  const takes = known.join(', ')
  throw new UnstuckError(
    'INVALID_ARGUMENT',
    `${where}: unknown ${kind} ${shown}${proposal} It takes ${takes}.`,
    {
      details: { argument: where, got: shown, takes, ...(closest === undefined ? {} : { closest }) },
    },
  )
}
