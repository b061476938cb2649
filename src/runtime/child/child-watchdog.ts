// Ends a process group when this process dies, however it dies (C17).

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { timing } from '../timing/timing.ts'

/** Lets the watchdog find its child if the worker dies before it can name it. */
const TOKEN_VARIABLE = 'UNSTUCK_CHILD'

/**
 * Only the worker holds the other end of standard input, so the second `read` returns when the worker is gone.
 * A worker killed between starting the child and naming it leaves the first line empty: the child is then found
 * by its environment (Linux). The forked child shares the pipe until its exec, so it cannot start unseen after
 * the end of input; the repeats cover the moment in which its new environment is not yet readable.
 * A service manager may send SIGTERM to everything it started: the watchdog ignores it, to outlive the worker.
 * `kill -s TERM --` is the one form that dash and bash both accept for groups. Not every `sleep` accepts fractions.
 */
const SCRIPT = `
trap '' HUP INT TERM
token=$1
ticks=$2
signal_groups() {
  signalled=1
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null && signalled=0; done
  return "$signalled"
}
pause() {
  if sleep 0.1; then ticks=$((ticks - 1)); elif sleep 1; then ticks=$((ticks - 10)); else ticks=0; fi 2>/dev/null
}
search() {
  for file in $(grep -lsF -- "${TOKEN_VARIABLE}=$token" /proc/[0-9]*/environ); do
    file=\${file#/proc/}
    groups="$groups \${file%/environ}"
  done
}
read -r groups
read -r _
[ -n "$groups" ] || search
[ -n "$groups" ] || { sleep 0.1; search; } 2>/dev/null
[ -n "$groups" ] || { sleep 1; search; } 2>/dev/null
signal_groups TERM
while [ "$ticks" -gt 0 ] && signal_groups 0; do pause; done
signal_groups KILL
`
const TICK_MS = 100

export interface ChildWatchdog {
  /** Must be set in the child's environment. */
  environment: Readonly<Record<string, string>>
  /** Names the leader of the group to end. Call it in the same turn in which the child is started. */
  watch: (leaderPid: number) => void
  /** The group has ended: the watchdog exits without touching it. Resolves when its process is reaped. */
  stop: () => Promise<void>
}

/** Started before the child, which therefore never runs unwatched. */
export async function startChildWatchdog(killGraceMs: number, shell = '/bin/sh'): Promise<ChildWatchdog> {
  const token = timing.randomUUID()
  const ticks = String(Math.ceil(killGraceMs / TICK_MS))
  const watchdog = spawn(shell, ['-c', SCRIPT, 'unstuck-watchdog', token, ticks], {
    // A process group of its own, or Ctrl-C in a terminal would end it together with the worker.
    detached: true,
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const exited = new Promise<void>((resolve) => watchdog.once('exit', () => resolve()))
  // EPIPE if the watchdog was killed; the child goes on without it.
  watchdog.stdin.on('error', () => undefined)
  await once(watchdog, 'spawn')
  watchdog.on('error', () => undefined)
  return {
    environment: { [TOKEN_VARIABLE]: token },
    watch: (leaderPid) => void watchdog.stdin.write(`${leaderPid}\n`),
    stop: async () => {
      // Killed before its input ends: it must not signal a group id that may have been reused.
      watchdog.kill('SIGKILL')
      await exited
      watchdog.stdin.destroy()
    },
  }
}

/** Without process groups (Windows) only the child is ended, by force. */
export function signalGroup(leader: ChildProcess, signal: NodeJS.Signals): void {
  if (leader.pid === undefined) return
  if (process.platform === 'win32') {
    leader.kill(signal)
    return
  }
  try {
    process.kill(-leader.pid, signal)
  } catch {
    // ESRCH: gone already. EPERM: it runs as another user; callers go on waiting for its end.
  }
}

/** Whether any process of the group runs. Zombies do not count. */
export function isGroupAlive(leader: ChildProcess): boolean {
  if (leader.pid === undefined) return false
  if (process.platform === 'win32') return leader.exitCode === null && leader.signalCode === null
  try {
    process.kill(-leader.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
  return process.platform !== 'linux' || !isGroupOfZombies(leader.pid)
}

/**
 * In a container, process 1 often reaps no orphans; a Node.js worker is such a process. Dead orphans then answer to
 * signal 0 forever.
 */
function isGroupOfZombies(groupId: number): boolean {
  const members = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readProcessStat)
    .filter((stat) => stat?.groupId === groupId)
  return members.length > 0 && members.every((stat) => stat?.isZombie)
}

function readProcessStat(pid: string): { groupId: number; isZombie: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name comes before, in parentheses, and may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // A process whose first thread has ended shows as a zombie while its other threads run.
    const isZombie = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1)
    return { groupId: Number(fields[2]), isZombie }
  } catch {
    return undefined
  }
}
