import { invalidArgument } from '../../errors/index.ts'
import type { NewOperation } from '../../store/job-store.ts'
import { findGroups } from '../find-groups.ts'
import { type BulkFlags, type BulkWish, runBulk } from '../run-bulk.ts'
import { withTables } from '../with-tables.ts'

interface RedriveFlags extends BulkFlags {
  all?: boolean
  canary: number
  rate: number
  keepAttempts?: boolean
}

/** Exit code 1 where it stopped by itself, 130 after Ctrl-C; what was brought back stays so. */
export async function redriveCommand(cause: string | undefined, flags: RedriveFlags): Promise<void> {
  if ((cause === undefined) === (flags.all !== true))
    throw invalidArgument('cause', cause, 'a cause, or --all')
  await withTables(flags, async (tables) => {
    const { actor, reason, canary, rate, keepAttempts = false } = flags
    const options = { actor, reason, canary, ratePerS: rate, keepAttempts }
    const all: NewOperation = { action: 'redrive', filter: { status: 'dead' }, q: 'status:dead', ...options }
    const wishes: BulkWish[] =
      cause === undefined
        ? tables.map((table) => ({ table, request: all }))
        : (await findGroups(tables, cause)).map(({ table, group: { causeId } }) => {
            const q = `status:dead cause:${causeId}`
            return { table, request: { ...all, filter: { status: 'dead', causeId }, q } }
          })
    await runBulk(wishes, flags, {
      planOf: (count) => planOf(count, flags),
      done: 'brought back',
      refused: 'were not dead any more',
      none: 'no dead job to bring back',
    })
  })
}

function planOf(count: number, { canary, rate }: RedriveFlags): string {
  const first = canary > 0 ? `First ${canary}, then` : 'At'
  const seconds = Math.ceil(Math.max(0, count - canary) / rate)
  return (
    `${count} jobs match. ${first} ${rate}/s (about ${seconds} s); ` +
    'stops by itself if half of the first 20 fail or the breaker opens.'
  )
}
