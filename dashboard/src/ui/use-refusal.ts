import type { CommandName } from '../../../src/commands/permissions.ts'
import { useMe } from '../api/queries.ts'

/** Why the caller may not use a command, or null. The server checks again. */
export function useRefusal(): (command: CommandName) => string | null {
  const me = useMe()
  return (command) => {
    const found = me.data?.commands[command]
    return found === undefined || found.is_allowed ? null : (found.reason ?? 'Missing permission.')
  }
}
