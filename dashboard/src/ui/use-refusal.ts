import type { CommandName } from '../../../src/commands/permissions.ts'
import { useMe } from '../api/queries.ts'

/** Why the caller may not use a command; null where it may. The server checks again. */
export function useRefusal(): (command: CommandName) => string | null {
  const me = useMe()
  return (command) => {
    const found = me.data?.commands[command]
    return found === undefined || found.is_allowed ? null : (found.reason ?? 'You may not do this.')
  }
}
