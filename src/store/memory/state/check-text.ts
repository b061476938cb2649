import { invalidArgument } from '../../../errors/index.ts'

// PostgreSQL stores neither NUL nor half of a surrogate pair in text.
const UNSTORABLE = /\0|\p{Surrogate}/u

export function checkText(name: string, text: unknown, maxLength: number): void {
  const isFine = typeof text === 'string' && text !== '' && text.length <= maxLength && !UNSTORABLE.test(text)
  if (!isFine) throw invalidArgument(name, text, `1 to ${maxLength} characters`)
}

export function checkQueue(queue: unknown): void {
  checkText('queue', queue, 1_000)
}
