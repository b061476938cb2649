import type { PgClient } from '../../compose/index.ts'
import { invalidArgument } from '../../errors/index.ts'
import type { Handler } from '../../runtime/attempt/handler.ts'
import { DEFAULT_KILL_AFTER_MS, fileHandler } from '../../runtime/child/child-handler.ts'
import type { UnstuckOptions } from '../options.ts'
import { DEFAULT_HANG_GRACE_MS } from '../start/start-worker.ts'
import type { FileHandler } from '../typed-methods.ts'

/** The handler of a module, which runs in a child process. */
export function childHandlerOf(
  { file, ...options }: FileHandler,
  { hangGraceMs = DEFAULT_HANG_GRACE_MS }: UnstuckOptions,
): Handler<PgClient> {
  const { killAfterMs = DEFAULT_KILL_AFTER_MS } = options
  if (killAfterMs >= hangGraceMs)
    throw invalidArgument('killAfterMs', killAfterMs, `less than hangGraceMs (${hangGraceMs})`)
  return fileHandler(file, { ...options, killAfterMs })
}
