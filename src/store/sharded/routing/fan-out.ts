// Calls of all shards. Reads leave out those that do not answer in time; changes say which shards have them.
import { isOutage, isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import type { Shard, ShardedAnswer } from '../../job-store.ts'
import { noteSilentShard } from '../../silent-shards.ts'
import type { Part } from './group-by.ts'
import { ANSWER_MS, type ShardSet, silentShard } from './shard-set.ts'

export interface Answers<Tx, T> {
  answers: { shard: Shard<Tx>; answer: T }[]
  /** To spread into the merged answer. */
  silence: ShardedAnswer
}

/** Asks all shards, or some, and takes what arrives in time. Fails if nothing does, or a call was refused. */
export async function readAll<Tx, T>(
  shards: ShardSet<Tx>,
  read: (shard: Shard<Tx>) => Promise<T>,
  asked: readonly Shard<Tx>[] = shards.all,
): Promise<Answers<Tx, T>> {
  const { answers, silent } = await askAll(shards, read, asked)
  for (const name of silent) noteSilentShard(name)
  return { answers, silence: silent.length === 0 ? {} : { silentShards: silent } }
}

/** For what one shard knows and another may not: all that answer, at the same time. Nothing is missing without the others. */
export async function askAnswering<Tx, T>(
  shards: ShardSet<Tx>,
  ask: (shard: Shard<Tx>) => Promise<T>,
): Promise<Answers<Tx, T>['answers']> {
  return (await askAll(shards, ask, answeringOf(shards))).answers
}

async function askAll<Tx, T>(
  shards: ShardSet<Tx>,
  ask: (shard: Shard<Tx>) => Promise<T>,
  asked: readonly Shard<Tx>[],
): Promise<{ answers: Answers<Tx, T>['answers']; silent: string[] }> {
  const results = await Promise.all(
    asked.map(async (shard) => ({
      shard,
      result: await settled(shards.noted(shard, inTime(shard, ask(shard)))),
    })),
  )
  const answers: Answers<Tx, T>['answers'] = []
  const silent: string[] = []
  for (const { shard, result } of results) {
    if ('answer' in result) answers.push({ shard, answer: result.answer })
    else if (isOutage(result.error)) silent.push(shard.name)
    else throw result.error
  }
  const [first] = results
  if (answers.length === 0 && first !== undefined && 'error' in first.result) throw first.result.error
  return { answers, silent }
}

/** All of them, if none is known to answer. */
function answeringOf<Tx>(shards: ShardSet<Tx>): readonly Shard<Tx>[] {
  const answering = shards.all.filter((shard) => shards.isAnswering(shard))
  return answering.length > 0 ? answering : shards.all
}

/** Changes all shards. If some did not get it, the error names them; the change can be repeated. */
export async function writeAll<Tx, T>(
  shards: ShardSet<Tx>,
  write: (shard: Shard<Tx>) => Promise<T>,
): Promise<[T, ...T[]]> {
  const results = await Promise.all(
    shards.all.map(async (shard) => ({ shard, result: await settled(shards.noted(shard, write(shard))) })),
  )
  const failed = results.flatMap(({ shard, result }) =>
    'error' in result ? [{ shard, error: result.error }] : [],
  )
  const answers = results.flatMap(({ result }) => ('answer' in result ? [result.answer] : []))
  const [failure] = failed
  if (failure === undefined) return answers as [T, ...T[]]
  if (answers.length === 0 || !isOutage(failure.error)) throw failure.error
  const names = failed.map(({ shard }) => shard.name)
  throw new UnstuckError(
    'DATABASE_UNREACHABLE',
    `not applied to ${names.join(', ')}; the other shards have it`,
    {
      details: { silentShards: names },
      hint: 'Repeat the call when the shard answers again.',
      cause: failure.error,
    },
  )
}

/** The same for changes that workers repeat anyway: one shard is enough. */
export async function writeAnswering<Tx, T>(
  shards: ShardSet<Tx>,
  write: (shard: Shard<Tx>) => Promise<T>,
): Promise<[T, ...T[]]> {
  const { answers } = await readAll(shards, write)
  return answers.map(({ answer }) => answer) as [T, ...T[]]
}

/** For what is the same in every shard, or exists once: the first that answers, in the order of their numbers. */
export async function askFirst<Tx, T>(
  shards: ShardSet<Tx>,
  ask: (shard: Shard<Tx>) => Promise<T>,
): Promise<T> {
  let failure: unknown
  for (const shard of answeringOf(shards)) {
    try {
      return await shards.noted(shard, inTime(shard, ask(shard)))
    } catch (error) {
      if (!isOutage(error)) throw error
      failure ??= error
    }
  }
  throw failure
}

/** Calls each shard with its items at the same time, and answers in their order. If only some have answered, the error says so. */
export async function callParts<Tx, Item, Answer>(
  shards: ShardSet<Tx>,
  parts: Map<Shard<Tx>, Part<Item>>,
  call: (shard: Shard<Tx>, items: Item[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  const failed: { error: unknown; places: number[] }[] = []
  await Promise.all(
    Array.from(parts, async ([shard, { items, places }]) => {
      const result = await settled(shards.noted(shard, call(shard, items)))
      if ('error' in result) failed.push({ error: result.error, places })
      else result.answer.forEach((answer, nth) => void (answers[places[nth] ?? 0] = answer))
    }),
  )
  const [failure] = failed
  if (failure === undefined) return answers
  if (failed.length === parts.size) throw failure.error
  throw partly(
    failure.error,
    failed.flatMap(({ places }) => places),
  )
}

/** Adds to an error which items of a call may not be written, by their places: the caller can repeat just these. */
function partly(error: unknown, places: number[]): unknown {
  if (!isUnstuckError(error)) return error
  const unconfirmed = places.toSorted((a, b) => a - b)
  const shown = unconfirmed.length > 10 ? `${unconfirmed.slice(0, 10).join(', ')} …` : unconfirmed.join(', ')
  const message = `${error.message}; items ${shown} of the call are not confirmed, the others are written`
  return new UnstuckError(error.code, message, {
    details: { ...error.details, unconfirmed },
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    cause: error,
  })
}

/** Fails if the shard does not answer in time; the call itself goes on. */
export async function inTime<T>(shard: Pick<Shard, 'name'>, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silentShard(shard)), ANSWER_MS)
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

async function settled<T>(call: Promise<T>): Promise<{ answer: T } | { error: unknown }> {
  try {
    return { answer: await call }
  } catch (error) {
    return { error }
  }
}
