// Maps common status words to roles.
import type { JobStatus } from '../../job/job.ts'
import type { TableProfile } from '../profile.ts'
import { inSnakeCase } from './snake-case.ts'

const roleWords: Record<JobStatus, readonly string[]> = {
  waiting: [
    'queued',
    'pending',
    'waiting',
    'ready',
    'available',
    'enqueued',
    'new',
    'created',
    'todo',
    'scheduled',
  ],
  running: [
    'processing',
    'running',
    'in_progress',
    'active',
    'started',
    'executing',
    'working',
    'locked',
    'claimed',
  ],
  succeeded: ['completed', 'succeeded', 'done', 'finished', 'complete', 'success', 'successful', 'processed'],
  dead: ['dead', 'failed', 'discarded', 'exhausted', 'dead_letter', 'error', 'errored', 'failure'],
  cancelled: ['cancelled', 'canceled', 'aborted', 'revoked'],
}

export const runningWords = roleWords.running

/** Whether one of the roles has the word, in any spelling. */
export const isKnownWord = (word: string): boolean =>
  Object.values(roleWords).some((words) => words.includes(inSnakeCase(word)))

/** Words of a status, whatever its column is called: one for waiting and one for running. */
export function areStatusWords(words: readonly string[]): boolean {
  const has = (role: JobStatus) => inOrder([...words], roleWords[role]).length > 0
  return has('waiting') && has('running')
}

const MOST_WORDS = 5

/** The first few: a status may hold free text. */
export function describeUnknownWords(words: string[]): string {
  const shown = words
    .slice(0, MOST_WORDS)
    .map((word) => `'${word.length > 40 ? `${word.slice(0, 40)}…` : word}'`)
  return `unknown status ${shown.join(', ')}${words.length > MOST_WORDS ? ', …' : ''}`
}

export interface FoundWords {
  /** Words that the column's type or CHECK allows; null if any. */
  takes: string[] | null
  /** Words found in rows. */
  inRows: string[]
  defaultWord: string | null
}

export interface StatusRoles extends Pick<TableProfile, 'statuses'> {
  ignored: string[]
  questions: string[]
}

export function statusRoles({ takes, inRows, defaultWord }: FoundWords): StatusRoles {
  const words = [...new Set([...(takes ?? []), ...inRows, ...(defaultWord === null ? [] : [defaultWord])])]
  const questions: string[] = []
  const wordsOf = (role: JobStatus) => inOrder(words, roleWords[role])
  const only = (role: 'waiting' | 'succeeded' | 'dead'): string => {
    const found = wordsOf(role)
    // The column default is the initial status.
    const first = found.find((word) => role === 'waiting' && word === defaultWord) ?? found[0]
    if (first !== undefined) return first
    const guess = (role === 'waiting' ? defaultWord : null) ?? roleWords[role][0] ?? role
    questions.push(guessed(role, guess, takes))
    return guess
  }
  const waiting = only('waiting')
  const [firstRunning, ...otherRunning] = wordsOf('running').filter((word) => word !== waiting)
  if (firstRunning === undefined) questions.push(guessed('running', 'processing', takes))
  const statuses: TableProfile['statuses'] = {
    waiting,
    running: [firstRunning ?? 'processing', ...otherRunning],
    succeeded: only('succeeded'),
    dead: only('dead'),
    cancelled: wordsOf('cancelled')[0] ?? null,
  }
  const { running, ...others } = statuses
  const known = new Set([...running, ...Object.values(others)])
  const ignored = words.filter((word) => !known.has(word))
  if (ignored.length > 0)
    questions.push(
      `statuses: rows with ${ignored.map((word) => `'${word}'`).join(', ')} are left alone. Does one of them mean waiting, or running?`,
    )
  return { statuses, ignored, questions }
}

function guessed(role: JobStatus, word: string, takes: string[] | null): string {
  return takes === null
    ? `statuses.${role}: nothing tells the word; '${word}' is a guess.`
    : `statuses.${role}: none of the words that the column takes says so; '${word}' is a guess.`
}

/** The intersection, in the order of `known`. */
function inOrder(words: string[], known: readonly string[]): string[] {
  return known.flatMap((name) => words.filter((word) => inSnakeCase(word) === name))
}
