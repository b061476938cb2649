// A call that is late is sent again over further connections until one of them is answered.
import { timing } from '../timing/timing.ts'

export interface RepeatedCall<Connection, Answer> {
  connection: Connection
  answer: Promise<Answer>
}

interface RepeatOptions<Connection, Answer> {
  begin: () => RepeatedCall<Connection, Answer>
  /** It has failed, and another one follows. */
  leave: (connection: Connection) => void
  pauseMs: number
  isStopping: () => boolean
}

/**
 * The first call counts if it is answered first, else the last repeated one. If only the repeated call fails, another one follows: the
 * first may hang on a dead socket for long after the server is back.
 */
export async function repeatUntilAnswered<Connection, Answer>(
  first: Promise<Answer>,
  { begin, leave, pauseMs, isStopping }: RepeatOptions<Connection, Answer>,
): Promise<{ isFirst: boolean; last: RepeatedCall<Connection, Answer> }> {
  const ofFirst = first.then(
    () => true,
    () => false,
  )
  for (;;) {
    const last = begin()
    const ofLast = last.answer.then(
      () => false,
      () => null,
    )
    const isFirst = await Promise.race([ofFirst, ofLast])
    if (isFirst !== null) return { isFirst, last }
    if (!(await isPendingAfter(pauseMs, first))) return { isFirst: await ofFirst, last }
    if (isStopping()) return { isFirst: false, last }
    leave(last.connection)
  }
}

/** Whether the call is not answered within `ms`. Clears its timer: it would wake the thread once for every heartbeat. */
export function isPendingAfter(ms: number, call: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = timing.setTimeout(() => resolve(true), ms)
    timer.unref()
    const onSettled = () => {
      timing.clearTimeout(timer)
      resolve(false)
    }
    call.then(onSettled, onSettled)
  })
}
