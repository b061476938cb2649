import { type ChildProcess, spawn } from 'node:child_process'
import type { RunAs } from './run-program.ts'
import { programEnvironment, spawnIdentity } from './run-program.ts'

/**
 * Nobody can write to descriptor 3, so `read` returns only when this process lets go of it, however it ends:
 * then the server gets SIGINT, a fast and clean shutdown. The shell stays the server's parent and so reaps it
 * even where process 1 does not. The watcher ends with status 0 only if it has fired; a server that ended by
 * itself keeps its data. What the shell says about killed jobs is kept out of the log.
 */
const SCRIPT = `
remove=$1
shift
"$@" 3<&- &
server=$!
(read -r _ <&3; kill -INT "$server" 2>/dev/null; exit 0) &
watcher=$!
exec 3<&-
wait "$server" 2>/dev/null
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null && [ -n "$remove" ] && rm -rf "$remove" 2>/dev/null
exit "$status"
`

export type WatchedProcess = {
  child: ChildProcess
  /** Stops the server the same way as the end of this process would. */
  release: () => void
}

/** Starts a server that does not outlive this process. On Windows it may: there is no shell to watch it. */
export function spawnWatched(
  command: readonly [string, ...string[]],
  options: {
    cwd: string
    runAs: RunAs | undefined
    removeIfOrphaned: string | undefined
    disregardPid: number | undefined
  },
): WatchedProcess {
  const env = programEnvironment()
  // The documented way of pg_ctl to say "this process id is not a server", without giving up the check for
  // left-over backends that removing postmaster.pid would give up.
  if (options.disregardPid !== undefined) env['PG_GRANDPARENT_PID'] = String(options.disregardPid)
  const common = { cwd: options.cwd, env, windowsHide: true, ...spawnIdentity(options.runAs) }
  if (process.platform === 'win32') {
    const [file, ...args] = command
    const child = spawn(file, args, { ...common, stdio: ['ignore', 'ignore', 'pipe'] })
    return { child, release: () => void child.kill() }
  }
  const args = ['-c', SCRIPT, 'sh', options.removeIfOrphaned ?? '', ...command]
  // Detached: Ctrl-C in a terminal reaches the whole process group, and a server must not stop before its clients.
  const child = spawn('/bin/sh', args, {
    ...common,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const pipe = child.stdio[3]
  pipe?.on('error', () => undefined)
  return { child, release: () => void pipe?.destroy() }
}
