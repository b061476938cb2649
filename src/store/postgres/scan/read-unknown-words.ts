// Looks for status words of unknown meaning: rows that have one may be running.
import { isUnstuckError } from '../../../errors/index.ts'
import type { ScanTarget, SightedTable } from '../../../profile/infer/scan-target.ts'
import { isKnownWord } from '../../../profile/infer/status-roles.ts'
import type { ReadOnlySession } from '../connection/read-only-session.ts'
import { wordsQuery } from './running-query.ts'

/** `some`: all rows could not be read in time, so only the first and the last ones, and the statistics. */
export type WordsRead = 'all' | 'some'

const ROWS_AT_AN_END = 10_000

interface UnknownWords {
  unknownWords: string[]
  wordsRead: WordsRead | null
}

export async function readUnknownWords(
  session: ReadOnlySession,
  target: ScanTarget,
  sighted: SightedTable,
): Promise<UnknownWords> {
  const { status } = target
  if (status === null) return { unknownWords: [], wordsRead: null }
  const isKnown = (word: string) => status.words?.includes(word) ?? isKnownWord(word)
  const { words, wordsRead } = await readWords(session, target, sighted, status.column)
  return { unknownWords: words.filter((word) => !isKnown(word)), wordsRead }
}

/** Types whose order is that of PostgreSQL itself, as for an enum. */
const ORDERED_TYPES = ['text', 'character varying']

async function readWords(
  session: ReadOnlySession,
  target: ScanTarget,
  { columns }: SightedTable,
  status: string,
): Promise<{ words: string[]; wordsRead: WordsRead }> {
  const { hasIndex = false, words, type = '' } = columns[status] ?? {}
  const isOrdered = hasIndex && (words != null || ORDERED_TYPES.includes(type))
  const wordsOf = async (text: string, params: unknown[] = []) =>
    (await session.look((run) => run(text, params))).map(({ word }) => String(word))
  try {
    const every = wordsQuery(target, status, isOrdered ? 'words_by_index' : 'words_in_all_rows')
    return { words: await wordsOf(every), wordsRead: 'all' }
  } catch (error) {
    if (!isUnstuckError(error, 'DATABASE_TIMEOUT')) throw error
  }
  const { schema, table } = target
  const atEnds = wordsQuery(target, status, 'words_in_rows')
  return { words: await wordsOf(atEnds, [ROWS_AT_AN_END, schema, table, status]), wordsRead: 'some' }
}
