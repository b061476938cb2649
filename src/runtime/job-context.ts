import type { Gateway } from './gateway.ts'
import type { JobContext } from './handler.ts'
import { spawnChild } from './spawn-child.ts'

type ContextParts<Tx> = Pick<JobContext<Tx>, 'fence' | 'isAtRisk' | 'progress' | 'stage' | 'tx'> & {
  signal: () => AbortSignal
  gateway: () => Gateway
}

/** Signal and gateway are made when a handler asks for them: a short job seldom does. */
export function createJobContext<Tx>(parts: ContextParts<Tx>): JobContext<Tx> {
  const { fence, isAtRisk, progress, stage, tx } = parts
  return {
    get signal() {
      return parts.signal()
    },
    get gateway() {
      return parts.gateway()
    },
    fence,
    isAtRisk,
    progress,
    stage,
    spawn: (command, args, options) => spawnChild(command, args, { ...options, signal: parts.signal() }),
    tx,
  }
}
